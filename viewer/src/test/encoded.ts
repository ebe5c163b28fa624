// For tests: the binary form as the server writes it.

export function encoded(header: object, data: Uint16Array): ArrayBuffer {
  let text = JSON.stringify(header);
  while ((12 + text.length) % 8 !== 0) text += " ";
  const out = new Uint8Array(12 + text.length + data.byteLength);
  out.set(new TextEncoder().encode("BARCHAN1"));
  new DataView(out.buffer).setUint32(8, text.length, true);
  out.set(new TextEncoder().encode(text), 12);
  out.set(new Uint8Array(data.buffer), 12 + text.length);
  return out.buffer;
}
