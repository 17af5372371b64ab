{{/* Variables of access and policy, as a YAML map. */}}
{{- define "lineward.accessEnv" -}}
{{- if .Values.access.insecure }}
LINEWARD_INSECURE: "true"
{{- end }}
{{- if include "lineward.policyConfigMap" . }}
LINEWARD_POLICY: /etc/lineward/policy/{{ .Values.policy.key }}
{{- end }}
{{- end -}}

{{/* Variables of notifications, as a YAML map. */}}
{{- define "lineward.notificationsEnv" -}}
{{- $n := .Values.notifications -}}
LINEWARD_ALERTS_MODE: {{ $n.mode }}
LINEWARD_ALERTS_PUBLIC_URL: {{ include "lineward.publicUrl" . }}
{{- with $n.dashboardsUrl }}
LINEWARD_ALERTS_DASHBOARDS_URL: {{ . | quote }}
{{- end }}
{{- with $n.fallback }}
LINEWARD_DELIVERY_FALLBACK: {{ . | quote }}
{{- end }}
{{- with $n.webhook.url }}
LINEWARD_DELIVERY_WEBHOOK_URL: {{ . | quote }}
{{- end }}
{{- if $n.pagerduty.keysSecret }}
LINEWARD_DELIVERY_PAGERDUTY_KEYS: /etc/lineward/pagerduty
{{- end }}
{{- end -}}

{{/* The variable that names each file of /etc/lineward/keys. */}}
{{- define "lineward.keyVariables" -}}
collector-token: LINEWARD_COLLECTOR_TOKEN_FILE
slack-token: LINEWARD_DELIVERY_SLACK_TOKEN_FILE
slack-signing-secret: LINEWARD_DELIVERY_SLACK_SIGNING_SECRET_FILE
pagerduty-webhook-secret: LINEWARD_DELIVERY_PAGERDUTY_WEBHOOK_SECRET_FILE
webhook-secret: LINEWARD_DELIVERY_WEBHOOK_SECRET_FILE
sender-secret: LINEWARD_SENDER_SECRET_FILE
catalog-password: LINEWARD_CATALOG_PASSWORD_FILE
lake-access-key: LINEWARD_LAKE_ACCESS_KEY_FILE
lake-secret-key: LINEWARD_LAKE_SECRET_KEY_FILE
log-client.properties: LINEWARD_LOG_CONFIG_FILE
kafka-client.properties: LINEWARD_KAFKA_CONFIG_FILE
marquez-token: LINEWARD_MARQUEZ_TOKEN_FILE
{{- end -}}

{{/* A map of variables as the `env` of a container. */}}
{{- define "lineward.printEnv" -}}
{{- range $name, $value := . }}
{{- /* Helm reads numbers as floats, and writes large ones as 1.07e+10. */}}
{{- if and (kindIs "float64" $value) (eq (floor $value) $value) }}{{ $value = int64 $value }}{{ end }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end -}}
