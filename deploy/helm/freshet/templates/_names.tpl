{{/* Names and labels. Every template below takes a list: the root context, and the name of a service. */}}

{{/*
At most 40 characters: the longest ending, "-aggregator-admin", must fit into 63. The name of a release may have
dots and begin with a digit, and the alias of a chart within another may have capitals and underscores; the name of
a Service may not.
*/}}
{{- define "freshet.fullname" -}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- $chart := .Chart.Name | lower | replace "_" "-" -}}
{{- $made := contains $chart $release | ternary $release (printf "%s-%s" $release $chart) -}}
{{- $valid := regexMatch "^[0-9]" $made | ternary (printf "%s-%s" $chart $release) $made -}}
{{- .Values.fullnameOverride | default $valid | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "freshet.name" -}}
{{- printf "%s-%s" (include "freshet.fullname" (index . 0)) (index . 1) -}}
{{- end -}}

{{- define "freshet.adminName" -}}
{{- include "freshet.name" . }}-admin
{{- end -}}

{{- define "freshet.releaseLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* What selects the pods of a service: must stay the same for the life of a release. */}}
{{- define "freshet.selector" -}}
{{ include "freshet.releaseLabels" (index . 0) }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "freshet.commonLabels" -}}
{{ include "freshet.releaseLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "freshet.labels" -}}
{{ include "freshet.commonLabels" (index . 0) }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "freshet.image" -}}
{{- $root := index . 0 -}}
{{- $image := $root.Values.image -}}
{{- $name := printf "freshet-%s:%s" (index . 1) ($image.tag | default $root.Chart.AppVersion) -}}
{{- /* There are none after `helm upgrade --reuse-values` of a release of 0.1.0. */ -}}
{{- $digest := get ($image.digests | default dict) (index . 1) -}}
{{- $image.registry | empty | ternary "" (printf "%s/" (trimSuffix "/" $image.registry)) -}}
{{- $digest | empty | ternary $name (printf "%s@%s" $name $digest) -}}
{{- end -}}

{{- define "freshet.serviceAccount" -}}
{{- $given := .Values.serviceAccount.name -}}
{{- .Values.serviceAccount.create | ternary ($given | default (include "freshet.fullname" .)) ($given | default "default") -}}
{{- end -}}

{{/* Fixed, since nobody else wants the ports of a pod. The images have the same admin port. */}}
{{- define "freshet.adminPort" -}}9400{{- end -}}
{{- define "freshet.httpPorts" -}}
scorer: 8080
console: 8081
{{- end -}}
