/**
 * Is a manifest what Kubernetes, KEDA and the Prometheus operator accept? Asked of validators that
 * are made from their published schemas. A validator lets a field pass that its schema does not
 * have, as a misspelt one is, but it never reads that field: so fields that it does not read are
 * told too.
 */
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import { TriggerAuthentication } from '@kubernetes-models/keda/keda.sh/v1alpha1/TriggerAuthentication';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';

const models = [
  Deployment,
  NetworkPolicy,
  PodDisruptionBudget,
  PrometheusRule,
  ScaledObject,
  Service,
  ServiceAccount,
  ServiceMonitor,
  TriggerAuthentication,
];

interface Typed {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Everything that is wrong with a manifest, each problem with the path of its field. */
export function problemsOf(manifest: Typed): string[] {
  const { apiVersion, kind } = manifest;
  const model = models.find((each) => each.apiVersion === apiVersion && each.kind === kind);
  if (model === undefined) return [`there is no schema of ${apiVersion} ${kind}`];
  const unread = new Set<string>();
  try {
    model.prototype.validate.call(recording(manifest, '', unread));
  } catch (error) {
    return [(error as Error).message];
  }
  return [...unread].map((path) => `${kind} has no field ${path}`);
}

/** The same value; whatever is read of it leaves `unread`. */
function recording<T extends object>(value: T, path: string, unread: Set<string>): T {
  const pathOf = (key: string): string => `${path}/${key}`;
  const parts = Object.entries(value).map(([key, part]: [string, unknown]) => {
    if (!Array.isArray(value)) unread.add(pathOf(key));
    const isObject = typeof part === 'object' && part !== null;
    return [key, isObject ? recording(part, pathOf(key), unread) : part] as const;
  });
  const copy = Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
  return new Proxy(copy as T, {
    get(target, key) {
      if (typeof key === 'string') unread.delete(pathOf(key));
      return Reflect.get(target, key);
    },
  });
}
