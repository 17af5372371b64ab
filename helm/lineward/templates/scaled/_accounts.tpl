{{/* Name of a component's ServiceAccount. Takes root, component and account (its values). */}}
{{- define "lineward.scaled.account" -}}
{{- $default := printf "%s-%s" (include "lineward.fullname" .root) .component -}}
{{- if .account.create -}}
{{ .account.name | default $default }}
{{- else -}}
{{ .account.name | default "default" }}
{{- end -}}
{{- end -}}

{{/* Components with a ServiceAccount of their own; the others have that of `serviceAccount`. */}}
{{- define "lineward.scaled.accounts" -}}
{{- $accounts := dict "collector" .Values.collector.serviceAccount "pipeline" .Values.pipeline.serviceAccount -}}
{{- if eq .Values.pipeline.runAs "sparkApplication" -}}
{{- $_ := set $accounts "executor" .Values.pipeline.executor.serviceAccount -}}
{{- end -}}
{{- toYaml $accounts -}}
{{- end -}}
