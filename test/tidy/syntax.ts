/** What a source file says, read from its syntax tree: functions, literals, imports and exports. */
import { dirname, join } from 'node:path';
import { parseAst } from 'vitest/node';
import { exists, read } from './tree.ts';

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

interface FunctionSize {
  readonly name: string;
  /** Of its body. */
  readonly lines: number;
}

/**
 * What a file takes from another: the file, or the package, and the name there; `*` for all of it.
 */
interface Import {
  readonly from: string;
  /** `from` as the file writes it. */
  readonly specifier: string;
  readonly name: string;
  /** The name by which the file exports it again, where it does. */
  readonly as?: string;
}

interface Syntax {
  readonly functions: readonly FunctionSize[];
  /** From where to where the file holds strings, templates and regular expressions. */
  readonly literals: readonly { readonly start: number; readonly end: number }[];
  readonly imports: readonly Import[];
  /** The names that the file itself declares and exports. */
  readonly exports: readonly string[];
  /** The names of its functions, classes, methods, constants and types. */
  readonly declared: ReadonlySet<string>;
}

const known = new Map<string, Syntax>();

export function syntaxOf(path: string): Syntax {
  const syntax = known.get(path) ?? new SyntaxReader(path);
  known.set(path, syntax);
  return syntax;
}

class SyntaxReader implements Syntax {
  readonly functions: FunctionSize[] = [];
  readonly literals: { start: number; end: number }[] = [];
  readonly imports: Import[] = [];
  readonly exports: string[] = [];
  readonly declared = new Set<string>();
  readonly #path: string;
  readonly #text: string;

  constructor(path: string) {
    this.#path = path;
    // AssemblyScript has decorators on functions, which TypeScript does not allow.
    this.#text = read(path).replace(/^ *@inline$/gm, (line) => ' '.repeat(line.length));
    const program: unknown = parseAst(this.#text, { lang: path.endsWith('.mjs') ? 'js' : 'ts' });
    if (isNode(program)) this.#visit(program, program);
  }

  #visit(node: Node, parent: Node): void {
    if (/Function/.test(node.type)) this.#function(node, parent);
    else if (isText(node)) this.literals.push({ start: node.start, end: node.end });
    else if (/Import|Export/.test(node.type)) this.#link(node);
    if (/Declarat|Definition|Class|Property/.test(node.type)) {
      this.declared.add(nameOf(node.id) || nameOf(node.key));
    }
    for (const field in node) {
      const value = node[field];
      if (isNode(value)) this.#visit(value, node);
      else if (Array.isArray(value))
        for (const each of value) if (isNode(each)) this.#visit(each, node);
    }
  }

  #function(node: Node, parent: Node): void {
    const { body } = node;
    if (!isNode(body) || isTestGroup(parent)) return;
    const name = nameOf(node.id) || nameOf(parent.key) || nameOf(parent.id) || 'a callback';
    const lines = this.#text.slice(body.start, body.end).split('\n').length;
    this.functions.push({ name: `${this.#path}: ${name}`, lines });
  }

  #link(node: Node): void {
    const { source, specifiers, declaration } = node;
    const parts = Array.isArray(specifiers) ? specifiers.filter(isNode) : [];
    const isExport = node.type === 'ExportNamedDeclaration';
    if (isNode(source)) {
      const specifier = nameOf(source);
      const all = { from: targetOf(this.#path, specifier), specifier };
      for (const { local, exported, imported } of parts) {
        if (isExport) this.imports.push({ ...all, name: nameOf(local), as: nameOf(exported) });
        else this.imports.push({ ...all, name: nameOf(imported) || '*' });
      }
      if (parts.length === 0) this.imports.push({ ...all, name: '*' });
    } else if (isExport) {
      this.exports.push(...parts.map(({ exported }) => nameOf(exported)));
      if (isNode(declaration)) this.exports.push(...declaredIn(declaration));
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function isText({ type, value }: Node): boolean {
  if (type === 'TemplateLiteral') return true;
  return type === 'Literal' && (typeof value === 'string' || value instanceof RegExp);
}

/** The name of an identifier, or the text of a string. */
function nameOf(node: unknown): string {
  if (!isNode(node)) return '';
  return String(node.name ?? node.value ?? '');
}

/**
 * A group of tests is a list of functions, and not a function that has to be understood at once.
 */
function isTestGroup({ callee }: Node): boolean {
  for (let node = callee; isNode(node); node = node.callee ?? node.object ?? node.tag) {
    if (nameOf(node) === 'describe') return true;
  }
  return false;
}

function declaredIn(declaration: Node): string[] {
  const { declarations } = declaration;
  const all = Array.isArray(declarations) ? declarations.filter(isNode) : [declaration];
  return all.flatMap(({ id }) => namesIn(id));
}

/** `{ a, b: c }` declares a and c. */
function namesIn(pattern: unknown): string[] {
  if (!isNode(pattern)) return [];
  if (pattern.type === 'Identifier') return [nameOf(pattern)];
  const parts = [pattern.properties, pattern.elements].flat().filter(isNode);
  return parts.flatMap((part) => namesIn(part.value ?? part.argument ?? part));
}

/** The file of the repository that an import names; a package from elsewhere keeps its name. */
function targetOf(path: string, specifier: string): string {
  const folder = /^@freshet\/(.+)$/.exec(specifier)?.[1];
  if (folder !== undefined) return `packages/${folder}/src/index.ts`;
  if (!specifier.startsWith('.')) return specifier;
  const file = join(dirname(path), specifier);
  return exists(file) ? file : `${file}.ts`;
}
