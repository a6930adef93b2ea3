// Prints a bill of materials of what runs, CycloneDX 1.6 in JSON: every package that a service or
// the command line needs, from the lockfile. The same lockfile gives the same bytes.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { manifestOf, root } from './layout.mjs';

const { name, version, description, license } = manifestOf('.');
const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8');
const { importers, packages, snapshots } = parse(lockfile);

/** What is started: everything else is there to build or to test. */
const started = Object.keys(importers).filter(
  (path) => path.startsWith('services/') || path === 'packages/cli',
);
const own = `pkg:npm/${name}@${version}`;

/** Vite copies these into the console's page, so that no image has them as packages. */
const IN_PAGE = ['uplot'];

const direct = [
  ...closure(started, workspaceDependencies).flatMap(publicDependencies),
  ...inPage(),
];
const all = closure([...new Set(direct)], dependenciesOf).sort();
const bom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: {
    component: {
      type: 'application',
      'bom-ref': own,
      name,
      version,
      description,
      licenses: [{ license: { id: license } }],
      purl: own,
    },
  },
  components: all.map(component),
  dependencies: [
    { ref: own, dependsOn: [...new Set(direct)].sort().map(purl) },
    ...all.map((id) => ({ ref: purl(id), dependsOn: dependenciesOf(id).sort().map(purl) })),
  ],
};
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);

/** Everything that is reached from `starts`, each once. */
function closure(starts, next) {
  const found = new Set(starts);
  for (const each of found) for (const other of next(each)) found.add(other);
  return [...found];
}

function workspaceDependencies(path) {
  return versionsIn(importers[path].dependencies)
    .filter(([, { version }]) => version.startsWith('link:'))
    .map(([, { version }]) => join(path, version.slice('link:'.length)));
}

function publicDependencies(path) {
  return versionsIn(importers[path].dependencies)
    .filter(([, { version }]) => !version.startsWith('link:'))
    .map(([dependency, { version }]) => `${dependency}@${version}`);
}

function inPage() {
  return versionsIn(importers['services/console'].devDependencies)
    .filter(([dependency]) => IN_PAGE.includes(dependency))
    .map(([dependency, { version }]) => `${dependency}@${version}`);
}

function versionsIn(dependencies = {}) {
  return Object.entries(dependencies);
}

/** `id`: name@version, with the peers in parentheses that pnpm has chosen. */
function dependenciesOf(id) {
  const { dependencies, optionalDependencies } = snapshots[id];
  return versionsIn({ ...dependencies, ...optionalDependencies }).map(
    ([dependency, version]) => `${dependency}@${version}`,
  );
}

function component(id) {
  const { plain, packageName, packageVersion } = partsOf(id);
  const [algorithm, hash] = packages[plain].resolution.integrity.split('-');
  const licence = licenceOf(id, packageName);
  return {
    type: 'library',
    'bom-ref': purl(id),
    name: packageName,
    version: packageVersion,
    purl: purl(id),
    hashes: [
      {
        alg: algorithm.replace('sha', 'SHA-'),
        content: Buffer.from(hash, 'base64').toString('hex'),
      },
    ],
    ...(licence === undefined ? {} : { licenses: [{ expression: licence }] }),
  };
}

/** As the installed package says; unknown for one that is for another kind of machine. */
function licenceOf(id, packageName) {
  const folder = id.replaceAll('/', '+').replaceAll(/[()]+/g, '_').replace(/_$/, '');
  const path = join('node_modules/.pnpm', folder, 'node_modules', packageName);
  return existsSync(join(root, path)) ? manifestOf(path).license : undefined;
}

function partsOf(id) {
  const plain = id.replace(/\(.*$/, '');
  const at = plain.lastIndexOf('@');
  return { plain, packageName: plain.slice(0, at), packageVersion: plain.slice(at + 1) };
}

function purl(id) {
  const { packageName, packageVersion } = partsOf(id);
  return `pkg:npm/${packageName.replace('@', '%40')}@${packageVersion}`;
}
