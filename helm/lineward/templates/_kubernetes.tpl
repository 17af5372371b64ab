{{/* Namespaces that are watched, as a YAML list under `namespaces`. */}}
{{- define "lineward.watchedNamespaces" -}}
namespaces: {{ toJson (.Values.kubernetesSource.namespaces | default (list .Release.Namespace) | uniq) }}
{{- end -}}

{{- define "lineward.kubernetesEnv" -}}
{{- if .Values.kubernetesSource.enabled -}}
{{- $folder := "/var/run/secrets/lineward/kubernetes" -}}
{{- $namespaces := (include "lineward.watchedNamespaces" . | fromYaml).namespaces -}}
LINEWARD_KUBERNETES_URL: https://kubernetes.default.svc
LINEWARD_KUBERNETES_TOKEN_FILE: {{ $folder }}/token
LINEWARD_KUBERNETES_CA_FILE: {{ $folder }}/ca.crt
LINEWARD_KUBERNETES_NAMESPACES: {{ join "," $namespaces | quote }}
LINEWARD_KUBERNETES_OWNER_KEYS: {{ join "," .Values.kubernetesSource.ownerKeys | quote }}
{{- if and .Values.kubernetesSource.actions (eq .Values.mode "scaled") }}
LINEWARD_KUBERNETES_INSTANCE: {{ .Release.Name | quote }}
LINEWARD_KUBERNETES_NAMESPACE: {{ .Release.Namespace | quote }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* The token that the kubelet renews, in a volume of its own: no other token is mounted. */}}
{{- define "lineward.kubernetesVolume" -}}
{{- if .Values.kubernetesSource.enabled }}
- name: kubernetes
  projected:
    defaultMode: 0440
    sources:
      - serviceAccountToken:
          path: token
          expirationSeconds: 3600
      - configMap:
          name: kube-root-ca.crt
          items:
            - key: ca.crt
              path: ca.crt
{{- end }}
{{- end -}}

{{/* What `restart-role` needs: RBAC cannot limit `list` by labels, but `patch` to objects by their names. */}}
{{- define "lineward.restartRules" -}}
{{- $name := include "lineward.fullname" . -}}
{{- $isSpark := eq .Values.pipeline.runAs "sparkApplication" -}}
{{- $deployments := list "service" -}}
{{- if not $isSpark }}{{ $deployments = append $deployments "pipeline" }}{{ end -}}
{{- if .Values.kafkaSource.enabled }}{{ $deployments = append $deployments "kafka" }}{{ end -}}
{{- if .Values.marquez.enabled }}{{ $deployments = append $deployments "marquez" }}{{ end -}}
{{- if .Values.kubernetesSource.enabled }}{{ $deployments = append $deployments "kubernetes" }}{{ end -}}
rules:
  - apiGroups: [apps]
    resources: [statefulsets, deployments]
    verbs: [list]
  - apiGroups: [apps]
    resources: [statefulsets]
    verbs: [patch]
    resourceNames: [{{ $name }}-collector]
  - apiGroups: [apps]
    resources: [deployments]
    verbs: [patch]
    resourceNames:
      {{- range $deployments }}
      - {{ $name }}-{{ . }}
      {{- end }}
  - apiGroups: [sparkoperator.k8s.io]
    resources: [sparkapplications]
    verbs: [list]
  {{- if $isSpark }}
  - apiGroups: [sparkoperator.k8s.io]
    resources: [sparkapplications]
    verbs: [patch]
    resourceNames: [{{ $name }}-pipeline]
  {{- end }}
{{- end -}}

{{/* Role and RoleBinding of the ServiceAccount. Takes root, name, namespace and rules. */}}
{{- define "lineward.roleAndBinding" -}}
{{- $metadata := include "lineward.metadata" (dict "root" .root "name" .name "namespace" .namespace "component" "kubernetes-source") -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
{{ $metadata }}
rules:
  {{- toYaml .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
{{ $metadata }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "lineward.serviceAccountName" .root }}
    namespace: {{ .root.Release.Namespace }}
{{- end -}}
