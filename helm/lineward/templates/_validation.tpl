{{/* Values that only the other mode reads: without effect they would be a surprise. `make chart` writes their defaults. */}}
{{- define "lineward.rejectOtherMode" -}}
{{- $other := ternary "embedded" "scaled" (eq .Values.mode "scaled") -}}
{{- range $path, $default := get (.Files.Get "files/mode-values.json" | fromJson) $other -}}
{{- $value := $.Values -}}
{{- range splitList "." $path }}{{ $value = get ($value | default dict) . }}{{ end -}}
{{- if ne (toJson $value) (toJson $default) -}}
{{- $hint := ternary "; in mode embedded use `settings`" "" (regexMatch "^(access|catalog|log|lake|kafkaSource|marquez)[.]" $path) -}}
{{- fail (printf "%s: only mode %s reads it%s" $path $other $hint) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Combinations of values that the schema cannot reject. Each message names the value to change. */}}
{{- define "lineward.validate" -}}
{{- $name := include "lineward.wholeName" . -}}
{{- if not (regexMatch "^[a-z]" $name) -}}
{{- fail "fullnameOverride: the name of the release begins with a digit, which names of Services may not: give another name" -}}
{{- end -}}
{{- /* Executors' names begin with that of the SparkApplication, of which Spark allows 47 characters. A cut name may be that of another release. */ -}}
{{- if gt (len $name) 38 -}}
{{- fail "fullnameOverride: the full name has more than 38 characters, which leaves no room for names of pods and executors: give a shorter one" -}}
{{- end -}}
{{- include "lineward.rejectOtherMode" . -}}
{{- include "lineward.checkSettings" . -}}
{{- if eq .Values.mode "scaled" }}{{ include "lineward.scaled.validate" . }}{{ end -}}
{{- $hasPolicy := or .Values.policy.inline .Values.policy.existingConfigMap -}}
{{- if and .Values.policy.inline .Values.policy.existingConfigMap -}}
{{- fail "policy.inline and policy.existingConfigMap: set one of them" -}}
{{- end -}}
{{- $policy := .Values.policy.inline | default "" | fromYaml -}}
{{- if hasKey $policy "Error" -}}
{{- fail (printf "policy.inline: no valid YAML: %s" $policy.Error) -}}
{{- end -}}
{{- with .Values.monitoring.rules -}}
{{- if and .enabled .content -}}
{{- $rules := fromYaml .content -}}
{{- if hasKey $rules "Error" -}}
{{- fail (printf "monitoring.rules.content: no valid YAML: %s" $rules.Error) -}}
{{- end -}}
{{- if not (and (kindIs "slice" $rules.groups) $rules.groups) -}}
{{- fail "monitoring.rules.content: no `groups` of rules: give the output of `lineward render rules`" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not .Values.access.insecure -}}
{{- if not .Values.access.collectorToken.name -}}
{{- fail "access.collectorToken.name: name the Secret with the token of the senders (kubectl create secret generic lineward-collector --from-literal=token=$(openssl rand -hex 32)), or set access.insecure: true" -}}
{{- end -}}
{{- if not $hasPolicy -}}
{{- fail "policy.inline: give a policy with an `access` section, or policy.existingConfigMap, or set access.insecure: true" -}}
{{- end -}}
{{- if and .Values.policy.inline (not (hasKey $policy "access")) -}}
{{- fail "policy.inline: the policy has no `access` section: Lineward does not start with it unless access.insecure is true" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.monitoring.serviceMonitor.enabled .Values.monitoring.podMonitor.enabled -}}
{{- fail "monitoring.podMonitor.enabled: every figure would be scraped twice: enable it or monitoring.serviceMonitor" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.host: give the host name of the pages" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.parentRefs: name the Gateway" -}}
{{- end -}}
{{- if and .Values.listener.enabled .Values.listener.eventFolder .Values.access.collectorToken.name -}}
{{- fail "listener.eventFolder: with access.collectorToken the transport is in openlineage.yml of the jobs: name the file of the events there" -}}
{{- end -}}
{{- with .Values.monitoring.alertmanagerConfig -}}
{{- if .enabled -}}
{{- if not .watchdogUrl.name -}}
{{- fail "monitoring.alertmanagerConfig.watchdogUrl.name: name the Secret with the URL of the service that watches the Watchdog" -}}
{{- end -}}
{{- if not .outsideUrl.name -}}
{{- fail "monitoring.alertmanagerConfig.outsideUrl.name: name the Secret with the URL of a webhook outside Lineward" -}}
{{- end -}}
{{- if not (or .token.name $.Values.access.insecure) -}}
{{- fail "monitoring.alertmanagerConfig.token.name: name the Secret with the policy's token of the role `alerts`" -}}
{{- end -}}
{{- if ne $.Values.notifications.mode "alertmanager" -}}
{{- fail "notifications.mode: set `alertmanager` with monitoring.alertmanagerConfig, else people are notified twice" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
