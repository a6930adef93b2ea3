/** How Java starts Kafka's programs fast: most of what they cost here is their start. */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The archive of the classes in these jars, with which a start of Java takes half the work or less.
 */
export function classArchive(jars: string): string {
  return join(realpathSync(jars), 'classes.jsa');
}

/** A data folder as Kafka's storage tool leaves it: a copy costs a second of Java less. */
export function formattedFolder(jars: string): string {
  return join(realpathSync(jars), 'formatted');
}

/**
 * Without a locale Java cannot open a path with letters beyond ASCII. With the user's own it may
 * print errors in another language than English, and causeOf would not find the reason.
 */
export const javaEnvironment = { LC_ALL: 'C.UTF-8' };

/** A value in a file of properties, which Java reads as Latin-1. */
export function javaProperty(value: string | number): string {
  return String(value).replace(
    /[^\x20-\x7E]|\\/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Java ignores an archive that another Java has made, or one of other jars. */
export function quickJava(jars: string, archive: string): string[] {
  return [
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1', // the load of a laptop needs no optimized code
    ...(existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : []),
    '-cp',
    join(realpathSync(jars), '*'), // Java compares these paths with those in the archive
  ];
}
