/**
 * Headers of every HTTP answer: a browser must trust its content type, keep no copy, send no
 * referrer, and let no page of another origin embed it.
 */
export function securityHeaders(contentSecurityPolicy: string): Readonly<Record<string, string>> {
  return Object.freeze({
    'content-security-policy': contentSecurityPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
  });
}
