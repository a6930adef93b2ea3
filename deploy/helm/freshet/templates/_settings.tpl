{{/*
The settings of a service as environment variables. Takes a list: the root context, and the name of the
service. What comes later wins: what the chart proposes, settings of all services, settings of this one, what
only the chart can know, and Secrets.
*/}}
{{- define "freshet.env" -}}
{{- $secrets := include "freshet.secrets" . | fromYaml -}}
{{- range $name, $value := include "freshet.settings" . | fromYaml }}
{{- if not (hasKey $secrets $name) }}
- name: {{ $name }}
  {{- /* JSON, because a template prints 1048576 as 1.048576e+06. */}}
  value: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }}
{{- end }}
{{- end }}
{{- range $name, $ref := $secrets }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef: { name: {{ $ref.name | quote }}, key: {{ $ref.key | quote }} }
{{- end }}
{{- end -}}

{{/* No `merge`: it takes 0, false and "" for values that are missing. */}}
{{- define "freshet.settings" -}}
{{- $root := index . 0 -}}
{{- $service := index . 1 -}}
{{- $chosen := dict -}}
{{- if has $service (list "console" "cli") -}}
{{- $_ := set $chosen "SCORER_URL" (printf "http://%s:%v" (include "freshet.name" (list $root "scorer")) $root.Values.scorer.service.port) -}}
{{- end -}}
{{- if eq $service "console" -}}
{{- $_ := set $chosen "CONSOLE_TARGETS" (include "freshet.targets" $root) -}}
{{- end -}}
{{- range $given := list $root.Values.settings (index $root.Values $service).settings -}}
{{- range $name, $value := $given -}}
{{- /* null takes back what stands above, so that the default of Freshet counts. */ -}}
{{- $_ := set $chosen $name $value -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $chosen $name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if has $service (list "updater" "aggregator" "scorer" "console") -}}
{{- $_ := set $chosen "ADMIN_HOST" $root.Values.listenOn -}}
{{- $_ := set $chosen (printf "%s_ADMIN_PORT" (upper $service)) (include "freshet.adminPort" $root) -}}
{{- end -}}
{{- range $name, $port := include "freshet.httpPorts" $root | fromYaml -}}
{{- if eq $name $service -}}
{{- $_ := set $chosen "HTTP_HOST" $root.Values.listenOn -}}
{{- $_ := set $chosen (printf "%s_PORT" (upper $service)) $port -}}
{{- end -}}
{{- end -}}
{{- range $name := keys $chosen -}}
{{- if include "freshet.isOthers" (list $service $name) -}}
{{- $_ := unset $chosen $name -}}
{{- else if hasSuffix "_FILE" $name -}}
{{- $_ := unset $chosen (trimSuffix "_FILE" $name) -}}
{{- end -}}
{{- end -}}
{{- toYaml $chosen -}}
{{- end -}}

{{/* Whether a service has no use for a setting, or the file of one, that is secret or leads to a server. */}}
{{- define "freshet.isOthers" -}}
{{- $service := index . 0 -}}
{{- $name := trimSuffix "_FILE" (index . 1) -}}
{{- $registry := and (hasPrefix "SCHEMA_REGISTRY_" $name) (not (has $service (list "updater" "cli"))) -}}
{{- $token := and (eq $name "HTTP_TOKEN") (has $service (list "updater" "aggregator")) -}}
{{- /* The console needs Kafka alone, so that it can still be looked at when Redis is away. */ -}}
{{- $redis := and (hasPrefix "REDIS_" $name) (eq $service "console") -}}
{{- if or $registry $token $redis -}}true{{- end -}}
{{- end -}}

{{/* A service gets only the secrets that it uses, and none of which it has the file. */}}
{{- define "freshet.secrets" -}}
{{- $service := index . 1 -}}
{{- $settings := include "freshet.settings" . | fromYaml -}}
{{- $chosen := dict -}}
{{- range $name, $ref := (index . 0).Values.secrets -}}
{{- $isFile := hasKey $settings (printf "%s_FILE" $name) -}}
{{- if and $ref (not $isFile) (not (include "freshet.isOthers" (list $service $name))) -}}
{{- $_ := set $chosen $name $ref -}}
{{- end -}}
{{- end -}}
{{- toYaml $chosen -}}
{{- end -}}

{{/* Whom the console watches: of a service with several pods always the same one (see services.yaml). */}}
{{- define "freshet.targets" -}}
{{- $root := . -}}
{{- $port := include "freshet.adminPort" . -}}
{{- $targets := list -}}
{{- range $service := list "updater" "aggregator" "scorer" -}}
{{- if (index $root.Values $service).enabled -}}
{{- $targets = append $targets (printf "%s=%s:%s" $service (include "freshet.adminName" (list $root $service)) $port) -}}
{{- end -}}
{{- end -}}
{{- append $targets (printf "console=127.0.0.1:%s" $port) | join "," -}}
{{- end -}}

{{/* A setting that KEDA has to know too: of the updater, else of all, else the default of Freshet. */}}
{{- define "freshet.updaterSetting" -}}
{{- $chosen := include "freshet.settings" (list (index . 0) "updater") | fromYaml -}}
{{- get $chosen (index . 1) | default (index . 2) -}}
{{- end -}}
