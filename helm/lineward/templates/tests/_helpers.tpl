{{- define "lineward.testSelector" -}}
{{ include "lineward.selector" . }}
app.kubernetes.io/component: test
{{- end -}}
