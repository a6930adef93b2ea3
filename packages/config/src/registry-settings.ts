/** The settings of a schema registry, from which the schemas of ratings are read. */
import { certificates, httpUrl, integer, setting, subjectPatterns, text } from './readers.ts';
import type { Settings } from './settings.ts';

export const registrySettings = {
  SCHEMA_REGISTRY_URL: setting(httpUrl, '').about(
    'URL of a schema registry that speaks Confluent’s API. Records of RATINGS_TOPICS with a schema id are then decoded with the schema of that id, and RATING_SCHEMA_IDS is not used. Empty: no registry',
  ),
  SCHEMA_REGISTRY_USERNAME: setting(text, '').about(
    'User name or API key of the registry, for basic authentication',
  ),
  SCHEMA_REGISTRY_PASSWORD: setting(text, '', { secret: true }).about(
    'Password or API secret of the registry',
  ),
  SCHEMA_REGISTRY_TOKEN: setting(text, '', { secret: true }).about(
    'Bearer token of the registry, instead of user name and password',
  ),
  SCHEMA_REGISTRY_CA_LOCATION: setting(certificates, '').about(
    'Path of a PEM file with the certificates of the authorities that sign that of the registry. Empty: those that Node trusts',
  ),
  SCHEMA_REGISTRY_SUBJECTS: setting(subjectPatterns, '').about(
    'Subjects whose schemas ratings may have, comma separated. * stands for any text. A record with another schema is parked. Empty: TOPIC-value for each of RATINGS_TOPICS',
  ),
  SCHEMA_REGISTRY_TIMEOUT_MS: setting(integer(100, 60_000), '5000').about(
    'How long the registry may take to answer a request, in ms. Then the request is repeated',
  ),
} as const;

/** Half a configuration, or two at once. */
export function registryConflicts(chosen: Settings): string[] {
  const problems: string[] = [];
  const { SCHEMA_REGISTRY_URL: url, SCHEMA_REGISTRY_USERNAME: user } = chosen;
  const { SCHEMA_REGISTRY_PASSWORD: password, SCHEMA_REGISTRY_TOKEN: token } = chosen;
  if (url !== '' && new URL(url).username !== '') {
    problems.push(
      'SCHEMA_REGISTRY_URL holds a user name: use SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD',
    );
  }
  if ((user === '') !== (password === '')) {
    problems.push('SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD must be set together');
  }
  if (user !== '' && token !== '') {
    problems.push(
      'SCHEMA_REGISTRY_TOKEN and SCHEMA_REGISTRY_USERNAME are both set: remove one of them',
    );
  }
  if (url === '' && (user !== '' || token !== '')) {
    problems.push('SCHEMA_REGISTRY_URL must be set where a user or a token of the registry is');
  }
  return problems;
}
