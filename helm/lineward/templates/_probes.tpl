{{/* A probe, unless its timings are null. Takes kind, path, port and timings. */}}
{{- define "lineward.probe" -}}
{{- if .timings -}}
{{ .kind }}:
  httpGet:
    path: {{ .path }}
    port: {{ .port }}
  {{- toYaml .timings | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* Probes of a role. Takes pod (values with the timings of each) and port. */}}
{{- define "lineward.probes" -}}
{{- range $kind, $path := dict "startupProbe" "/livez" "livenessProbe" "/livez" "readinessProbe" "/readyz" }}
{{ include "lineward.probe" (dict "kind" $kind "path" $path "port" $.port "timings" (get $.pod $kind)) }}
{{- end }}
{{- end -}}
