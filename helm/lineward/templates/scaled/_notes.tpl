{{- define "lineward.scaled.notes" -}}
{{- $name := include "lineward.fullname" . -}}
{{- $kubectl := printf "kubectl -n %s" .Release.Namespace -}}
Lineward {{ .Chart.AppVersion }} runs in scaled mode: collectors, Kafka, pipeline, PostgreSQL, S3 and services.

1. The topic {{ .Values.log.kafka.topic }} must exist, with cleanup.policy=delete and max.message.bytes of at least 11 MiB.
   The pipeline creates the schema, and the other roles wait for it. Wait until all are ready:
   {{ $kubectl }} rollout status statefulset/{{ $name }}-collector
{{- if eq .Values.pipeline.runAs "deployment" }}
   {{ $kubectl }} rollout status deployment/{{ $name }}-pipeline
{{- else }}
   {{ $kubectl }} get sparkapplication {{ $name }}-pipeline
   If it stays without a state, the Spark operator does not watch the namespace {{ .Release.Namespace }}:
   add the namespace to the Spark operator's spark.jobNamespaces.
   The Spark operator must be release 2.4.0 or newer, and submit with Spark 4.3 or newer. Released operators have Spark 4.0:
   executors that start while the driver is not ready end again.
{{- end }}
   {{ $kubectl }} rollout status deployment/{{ $name }}-service
{{- end -}}

{{/* Command that deletes the pods of Spark, of which the operator starts others where the application is still there. */}}
{{- define "lineward.scaled.cleanUp" -}}
kubectl -n {{ .Release.Namespace }} delete pod -l 'app.kubernetes.io/instance={{ .Release.Name }},app.kubernetes.io/component in (pipeline,executor)'
{{- end -}}
