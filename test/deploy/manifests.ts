/** What do manifests say of each other? Of what a test looks at: its form, and how to find it. */
type Labels = Readonly<Record<string, string>>;

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly env: readonly Variable[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: string[] } } };
  readonly securityContext: Readonly<Record<string, unknown>>;
}

interface PodSpec {
  readonly containers: readonly [Container];
  readonly serviceAccountName: string;
  readonly enableServiceLinks: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly topologySpreadConstraints: readonly { labelSelector: { matchLabels: Labels } }[];
}

interface Trigger {
  readonly metadata: Readonly<Record<string, string>>;
  readonly authenticationRef?: { readonly name: string };
}

/** The parts of all kinds that a test looks at; each kind has some of them. */
interface Spec {
  readonly replicas?: number;
  readonly strategy: { readonly type: string };
  readonly selector: Labels & { readonly matchLabels: Labels };
  readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
  readonly ports: readonly { readonly name: string; readonly port: number; targetPort: string }[];
  readonly podSelector: { readonly matchLabels: Labels };
  readonly policyTypes: readonly string[];
  readonly ingress: readonly { readonly ports: readonly { readonly port: string }[] }[];
  readonly scaleTargetRef: { readonly name: string };
  readonly triggers: readonly Trigger[];
  readonly env: readonly { readonly parameter: string; readonly name: string }[];
  readonly jobLabel: string;
  readonly endpoints: readonly { readonly port: string; readonly path: string }[];
  readonly groups: unknown;
}

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Labels };
  readonly spec: Spec;
}

export const ofKind = (manifests: readonly Manifest[], kind: string): Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind);

export function found(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const one = ofKind(manifests, kind).find(({ metadata }) => metadata.name === name);
  if (one === undefined) throw new Error(`no ${kind} ${name}`);
  return one;
}

export const podOf = (manifests: readonly Manifest[], service: string) =>
  found(manifests, 'Deployment', `freshet-${service}`).spec.template;

export const containerOf = (manifests: readonly Manifest[], service: string): Container =>
  podOf(manifests, service).spec.containers[0];

/** What the process of a container finds in its environment, with something for each Secret. */
export function environmentOf({ env }: Container): Record<string, string> {
  const secrets: Record<string, string> = { REDIS_URL: 'rediss://user:secret@redis:6380' };
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => [
      name,
      valueFrom === undefined ? (value ?? '') : (secrets[name] ?? 'a-secret'),
    ]),
  );
}

export const matches = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([label, value]) => labels[label] === value);

/** The services whose pods a selector selects. */
export const selectedBy = (selector: Labels, manifests: readonly Manifest[]): string[] =>
  ofKind(manifests, 'Deployment')
    .filter(({ spec }) => matches(selector, spec.template.metadata.labels))
    .map(({ spec }) => spec.template.spec.containers[0].name);
