{{/* Secrets that become files below /etc/lineward/keys, each as name of the file, Secret and key. */}}
{{- define "lineward.keyFiles" -}}
{{- $n := .Values.notifications -}}
{{- $files := dict
  "collector-token" .Values.access.collectorToken
  "slack-token" $n.slack.token
  "slack-signing-secret" $n.slack.signingSecret
  "pagerduty-webhook-secret" $n.pagerduty.webhookSecret
  "webhook-secret" $n.webhook.secret -}}
{{- $used := dict -}}
{{- range $file, $secret := $files -}}
{{- if $secret.name }}{{ $_ := set $used $file $secret }}{{ end -}}
{{- end -}}
{{- toYaml $used -}}
{{- end -}}

{{- define "lineward.env" -}}
{{- $keys := include "lineward.keyFiles" . | fromYaml -}}
{{- $n := .Values.notifications -}}
{{- $variables := dict
  "HOME" "/tmp"
  "LINEWARD_HOST" .Values.embedded.host
  "LINEWARD_DATA_DIR" "/var/lib/lineward/data"
  "LINEWARD_ALERTS_MODE" $n.mode
  "LINEWARD_ALERTS_PUBLIC_URL" (include "lineward.publicUrl" .) -}}
{{- if .Values.access.insecure }}{{ $_ := set $variables "LINEWARD_INSECURE" "true" }}{{ end -}}
{{- if or .Values.policy.inline .Values.policy.existingConfigMap -}}
{{- $_ := set $variables "LINEWARD_POLICY" (printf "/etc/lineward/policy/%s" .Values.policy.key) -}}
{{- end -}}
{{- with $n.dashboardsUrl }}{{ $_ := set $variables "LINEWARD_ALERTS_DASHBOARDS_URL" . }}{{ end -}}
{{- with $n.fallback }}{{ $_ := set $variables "LINEWARD_DELIVERY_FALLBACK" . }}{{ end -}}
{{- with $n.webhook.url }}{{ $_ := set $variables "LINEWARD_DELIVERY_WEBHOOK_URL" . }}{{ end -}}
{{- if $n.pagerduty.keysSecret -}}
{{- $_ := set $variables "LINEWARD_DELIVERY_PAGERDUTY_KEYS" "/etc/lineward/pagerduty" -}}
{{- end -}}
{{- $variables = merge $variables (include "lineward.kubernetesEnv" . | fromYaml) -}}
{{- $names := dict
  "collector-token" "LINEWARD_COLLECTOR_TOKEN_FILE"
  "slack-token" "LINEWARD_DELIVERY_SLACK_TOKEN_FILE"
  "slack-signing-secret" "LINEWARD_DELIVERY_SLACK_SIGNING_SECRET_FILE"
  "pagerduty-webhook-secret" "LINEWARD_DELIVERY_PAGERDUTY_WEBHOOK_SECRET_FILE"
  "webhook-secret" "LINEWARD_DELIVERY_WEBHOOK_SECRET_FILE" -}}
{{- range $file, $secret := $keys -}}
{{- $_ := set $variables (get $names $file) (printf "/etc/lineward/keys/%s" $file) -}}
{{- end -}}
{{- range $name, $value := merge $variables .Values.settings }}
{{- /* Helm reads numbers as floats, and writes large ones as 1.07e+10. */}}
{{- if and (kindIs "float64" $value) (eq (floor $value) $value) }}{{ $value = int64 $value }}{{ end }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- with .Values.catalog.urlSecret }}
{{- if .name }}
- name: LINEWARD_CATALOG_URL
  valueFrom:
    secretKeyRef:
      name: {{ .name }}
      key: {{ .key }}
{{- end }}
{{- end }}
{{- with .Values.embedded.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "lineward.volumeMounts" -}}
- name: data
  mountPath: /var/lib/lineward
- name: tmp
  mountPath: /tmp
{{- if include "lineward.policyConfigMap" . }}
- name: policy
  mountPath: /etc/lineward/policy
  readOnly: true
{{- end }}
{{- if include "lineward.keyFiles" . | fromYaml }}
- name: keys
  mountPath: /etc/lineward/keys
  readOnly: true
{{- end }}
{{- if .Values.notifications.pagerduty.keysSecret }}
- name: pagerduty
  mountPath: /etc/lineward/pagerduty
  readOnly: true
{{- end }}
{{- if .Values.kubernetesSource.enabled }}
- name: kubernetes
  mountPath: /var/run/secrets/lineward/kubernetes
  readOnly: true
{{- end }}
- name: passwd
  mountPath: /etc/passwd
  subPath: passwd
  readOnly: true
{{- range $at, $secret := .Values.access.secrets }}
- name: secret-{{ $at }}
  mountPath: /etc/lineward/secrets/{{ $secret }}
  readOnly: true
{{- end }}
{{- with .Values.embedded.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Modes: the group reads. That is fsGroup, and without one group 0, in which OpenShift runs pods. */}}
{{- define "lineward.volumes" -}}
- name: tmp
  emptyDir:
    sizeLimit: {{ .Values.embedded.tmpSizeLimit }}
{{- with include "lineward.policyConfigMap" . }}
- name: policy
  configMap:
    name: {{ . }}
{{- end }}
{{- with include "lineward.keyFiles" . | fromYaml }}
- name: keys
  projected:
    defaultMode: 0440
    sources:
      {{- range $file, $secret := . }}
      - secret:
          name: {{ $secret.name }}
          items:
            - key: {{ $secret.key }}
              path: {{ $file }}
      {{- end }}
{{- end }}
{{- with .Values.notifications.pagerduty.keysSecret }}
- name: pagerduty
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- include "lineward.kubernetesVolume" . }}
- name: passwd
  emptyDir:
    sizeLimit: 1Mi
{{- range $at, $secret := .Values.access.secrets }}
- name: secret-{{ $at }}
  secret:
    secretName: {{ $secret }}
    defaultMode: 0440
{{- end }}
{{- with .Values.embedded.persistence.existingClaim }}
- name: data
  persistentVolumeClaim:
    claimName: {{ . }}
{{- end }}
{{- with .Values.embedded.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
