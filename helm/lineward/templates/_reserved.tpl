{{/* Variables that the chart sets in any mode, and the value that each comes from. */}}
{{- define "lineward.reserved" -}}
HOME: nothing (it is the folder for temporary files)
LINEWARD_HOST: host, or embedded.host in mode embedded
LINEWARD_DATA_DIR: nothing (the volume is mounted there)
LINEWARD_INSECURE: access.insecure
LINEWARD_POLICY: policy.inline or policy.existingConfigMap
LINEWARD_CATALOG_URL: catalog.urlSecret
LINEWARD_COLLECTOR_PORT: nothing (the port is 8700)
LINEWARD_SERVICE_PORT: nothing (the port is 8701)
LINEWARD_METRICS_PORT: nothing (the port is 8702)
LINEWARD_COLLECTOR_TOKEN_FILE: access.collectorToken
LINEWARD_ALERTS_MODE: notifications.mode
LINEWARD_ALERTS_PUBLIC_URL: notifications.publicUrl
LINEWARD_ALERTS_DASHBOARDS_URL: notifications.dashboardsUrl
LINEWARD_DELIVERY_FALLBACK: notifications.fallback
LINEWARD_DELIVERY_SLACK_TOKEN_FILE: notifications.slack.token
LINEWARD_DELIVERY_SLACK_SIGNING_SECRET_FILE: notifications.slack.signingSecret
LINEWARD_DELIVERY_PAGERDUTY_KEYS: notifications.pagerduty.keysSecret
LINEWARD_DELIVERY_PAGERDUTY_WEBHOOK_SECRET_FILE: notifications.pagerduty.webhookSecret
LINEWARD_DELIVERY_WEBHOOK_URL: notifications.webhook.url
LINEWARD_DELIVERY_WEBHOOK_SECRET_FILE: notifications.webhook.secret
LINEWARD_KUBERNETES_URL: nothing (the address is the cluster's)
LINEWARD_KUBERNETES_TOKEN_FILE: nothing (the kubelet renews the token)
LINEWARD_KUBERNETES_CA_FILE: nothing (the file is the cluster's)
LINEWARD_KUBERNETES_NAMESPACES: kubernetesSource.namespaces
LINEWARD_KUBERNETES_OWNER_KEYS: kubernetesSource.ownerKeys
LINEWARD_KUBERNETES_INSTANCE: nothing (the name is the release's)
LINEWARD_KUBERNETES_NAMESPACE: nothing (the namespace is the release's)
{{- end -}}

{{/* Fails for a setting that the chart sets itself. */}}
{{- define "lineward.checkSettings" -}}
{{- $values := include "lineward.reserved" . | fromYaml -}}
{{- if eq .Values.mode "scaled" }}{{ $values = merge $values (include "lineward.scaled.reserved" . | fromYaml) }}{{ end -}}
{{- range $name := keys (.Values.settings | default dict) | sortAlpha -}}
{{- with get $values $name -}}
{{- fail (printf "settings.%s: set %s instead" $name .) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Fails for a variable that is there twice, which the API server rejects. Takes root, path (of the
list), extra (the list) and env (the chart's own variables, as YAML). */}}
{{- define "lineward.checkExtraEnv" -}}
{{- $values := merge (include "lineward.reserved" .root | fromYaml) (include "lineward.scaled.reserved" .root | fromYaml) -}}
{{- $taken := dict -}}
{{- range .env | fromYamlArray -}}
{{- $_ := set $taken .name (get $values .name | default (printf "settings.%s" .name)) -}}
{{- end -}}
{{- $names := list -}}
{{- range .extra -}}
{{- if has .name $names -}}
{{- fail (printf "%s: %s is there twice" $.path .name) -}}
{{- else if hasKey $taken .name -}}
{{- fail (printf "%s: the chart sets %s itself: set %s instead" $.path .name (get $taken .name)) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- end -}}
