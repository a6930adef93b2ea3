/**
 * What every answer of an HTTP server tells a browser: take it for what its content type says, keep no copy,
 * tell no other site where a link came from, and let no page of another origin embed it.
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
