{{/* Fails where the limits of the Deployment are too small for the Spark in it. A driver's come from Spark itself. */}}
{{- define "lineward.scaled.checkPipelineSize" -}}
{{- $p := .Values.pipeline -}}
{{- $limits := ($p.pod.resources | default dict).limits | default dict -}}
{{- if eq $p.runAs "deployment" -}}
{{- $needed := addf (include "lineward.scaled.mebibytes" $p.driver.memory) (include "lineward.scaled.mebibytes" $p.driver.memoryOverhead) -}}
{{- if and $limits.memory (lt (include "lineward.scaled.mebibytes" $limits.memory | float64) $needed) -}}
{{- fail (printf "pipeline.pod.resources.limits.memory: %v is less than pipeline.driver.memory (%s) and pipeline.driver.memoryOverhead (%s), so that the pod would be OOMKilled" $limits.memory $p.driver.memory $p.driver.memoryOverhead) -}}
{{- end -}}
{{- if and $limits.cpu (lt (include "lineward.scaled.cores" $limits.cpu | float64) (float64 $p.driver.cores)) -}}
{{- fail (printf "pipeline.pod.resources.limits.cpu: %v is less than pipeline.driver.cores (%v)" $limits.cpu $p.driver.cores) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* MiB of a quantity of Kubernetes or a size of Spark. */}}
{{- define "lineward.scaled.mebibytes" -}}
{{- $mebi := 1048576.0 -}}
{{- $bytes := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" $mebi "m" $mebi "Gi" 1073741824.0 "g" 1073741824.0 "Ti" 1099511627776.0 -}}
{{- $text := ternary (printf "%.0f" (float64 .)) (toString .) (not (kindIs "string" .)) -}}
{{- $unit := regexFind "[A-Za-z]*$" $text -}}
{{- if not (hasKey $bytes $unit) -}}
{{- fail (printf "pipeline.pod.resources.limits.memory: expected a quantity like 5Gi, got %s" $text) -}}
{{- end -}}
{{- divf (mulf (trimSuffix $unit $text) (get $bytes $unit)) $mebi -}}
{{- end -}}

{{- define "lineward.scaled.cores" -}}
{{- $text := toString . -}}
{{- if hasSuffix "m" $text }}{{ divf (trimSuffix "m" $text) 1000 }}{{ else }}{{ $text }}{{ end -}}
{{- end -}}
