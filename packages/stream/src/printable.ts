/** Bytes of strangers, safe on any terminal or page: printable ASCII as it is, the rest as \\xNN, cut. */
export function printable(bytes: Buffer, limit: number): string {
  const shown = [...bytes.subarray(0, limit)].map((byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  );
  return shown.join('') + (bytes.length > limit ? '…' : '');
}
