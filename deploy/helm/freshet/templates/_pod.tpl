{{/* The pod of a service, or of the command line. Takes a list: the root context, and its name. */}}
{{- define "freshet.pod" -}}
{{- $root := index . 0 -}}
{{- $service := index . 1 -}}
{{- $own := index $root.Values $service -}}
{{- $pod := dict -}}
{{- range $given := list $root.Values.pod $own.pod -}}
{{- range $key, $value := $given -}}
{{- $_ := set $pod $key $value -}}
{{- end -}}
{{- end -}}
{{- $drain := $own.drainSeconds | default 0 | int -}}
{{- $grace := $pod.terminationGracePeriodSeconds | default 30 | int -}}
{{- if lt $grace (add $drain 10 | int) -}}
{{- fail (printf "%s.drainSeconds is %d and terminationGracePeriodSeconds %d: a %s would be killed before it has closed, which takes 10 s. Set %s.pod.terminationGracePeriodSeconds to %d or more." $service $drain $grace $service $service (add $drain 10)) -}}
{{- end -}}
{{- $httpPort := get (include "freshet.httpPorts" $root | fromYaml) $service -}}
metadata:
  labels:
    {{- include "freshet.labels" . | nindent 4 }}
    {{- with $pod.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $pod.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "freshet.serviceAccount" $root }}
  automountServiceAccountToken: false
  # With links, a Service called "scorer" would set SCORER_PORT, which is a setting.
  enableServiceLinks: false
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . | quote }}
    {{- end }}
  {{- end }}
  terminationGracePeriodSeconds: {{ eq $service "cli" | ternary 1 $grace }}
  {{- with $pod.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $pod.securityContext }}
  securityContext: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $pod.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $pod.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $pod.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $pod.topologySpread }}
  topologySpreadConstraints:
    {{- range . }}
    - topologyKey: {{ .topologyKey }}
      maxSkew: {{ .maxSkew | default 1 }}
      whenUnsatisfiable: {{ .whenUnsatisfiable | default "ScheduleAnyway" }}
      labelSelector:
        matchLabels: {{- include "freshet.selector" (list $root $service) | nindent 10 }}
      # During an upgrade the old pods do not count.
      matchLabelKeys: [pod-template-hash]
    {{- end }}
  {{- end }}
  containers:
    - name: {{ $service }}
      image: {{ include "freshet.image" . | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      {{- if eq $service "cli" }}
      command: [sleep, infinity]
      {{- end }}
      env:
        {{- $env := include "freshet.env" . | trim }}
        {{- $env | nindent 8 }}
        {{- if eq $service "cli" }}
        # Imports note here how far they came.
        - name: XDG_CACHE_HOME
          value: /tmp
        {{- end }}
        {{- range $pod.extraEnv }}
        {{- if contains (printf "- name: %s\n" .name) $env }}
        {{- fail (printf "%s is in extraEnv and among the settings or secrets. Remove it from one of them; null removes a setting." .name) }}
        {{- end }}
        {{- list . | toYaml | nindent 8 }}
        {{- end }}
      {{- if ne $service "cli" }}
      ports:
        - { name: admin, containerPort: {{ include "freshet.adminPort" $root }} }
        {{- with $httpPort }}
        - { name: http, containerPort: {{ . }} }
        {{- end }}
      # The admin port opens before anything else. A process that answers there is alive, whatever it waits
      # for: to start it again would not bring back a Kafka or Redis that is away.
      startupProbe:
        httpGet: { path: /livez, port: admin }
        periodSeconds: 2
        failureThreshold: 30
      livenessProbe:
        httpGet: { path: /livez, port: admin }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: admin }
        periodSeconds: 5
        timeoutSeconds: 3
        failureThreshold: 2
      {{- with $drain }}
      lifecycle:
        preStop:
          exec: { command: [sleep, {{ . | quote }}] }
      {{- end }}
      {{- end }}
      {{- with $own.resources }}
      resources: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $pod.containerSecurityContext }}
      securityContext: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- $isCli := eq $service "cli" }}
      {{- if or $isCli $pod.extraVolumeMounts }}
      volumeMounts:
        {{- if $isCli }}
        - { name: tmp, mountPath: /tmp }
        {{- end }}
        {{- with $pod.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
  {{- if or $isCli $pod.extraVolumes }}
  volumes:
    {{- if $isCli }}
    - { name: tmp, emptyDir: {} }
    {{- end }}
    {{- with $pod.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
{{- end -}}
