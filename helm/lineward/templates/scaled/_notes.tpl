{{- define "lineward.scaled.notes" -}}
{{- $name := include "lineward.fullname" . -}}
{{- $kubectl := printf "kubectl -n %s" .Release.Namespace -}}
Lineward {{ .Chart.AppVersion }} runs in scaled mode: collectors, Kafka, pipeline, PostgreSQL, S3 and services.

1. The topic {{ .Values.log.kafka.topic }} must exist, with cleanup.policy=delete and max.message.bytes of at least 11 MiB.
   Wait until the roles work. The pipeline makes the schema; the others wait for it:
   {{ $kubectl }} rollout status statefulset/{{ $name }}-collector
{{- if eq .Values.pipeline.runAs "deployment" }}
   {{ $kubectl }} rollout status deployment/{{ $name }}-pipeline
{{- else }}
   {{ $kubectl }} get sparkapplication {{ $name }}-pipeline
   It stays without a state where the Spark operator does not watch the namespace {{ .Release.Namespace }}:
   add the namespace to the operator's spark.jobNamespaces.
{{- end }}
   {{ $kubectl }} rollout status deployment/{{ $name }}-service
{{- end -}}
