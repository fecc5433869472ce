// Files as one ZIP file, none of them packed further: pictures are already.

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ value >>> 1 : value >>> 1;
  return value;
});

function sum(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) value = TABLE[(value ^ byte) & 255] ^ value >>> 8;
  return (value ^ 0xffffffff) >>> 0;
}

/** @param {{name: string, bytes: Uint8Array}[]} files with names of plain letters */
export function writeZip(files) {
  const parts = [], list = [];
  let at = 0;
  const now = new Date();
  const time = now.getHours() << 11 | now.getMinutes() << 5 | now.getSeconds() >> 1;
  const day = now.getFullYear() - 1980 << 9 | now.getMonth() + 1 << 5 | now.getDate();
  for (const { name, bytes } of files) {
    const title = new TextEncoder().encode(name);
    const about = [20, 0x800, 0, time, day]; // version, names in UTF-8, not packed, when; 16 bits each
    const sizes = [sum(bytes), bytes.length, bytes.length]; // 32 bits each
    parts.push(pack([0x04034b50], about, sizes, [title.length, 0]), title, bytes);
    list.push(pack([0x02014b50], [20, ...about], sizes, [title.length, 0, 0, 0, 0], [0, at]), title);
    at += 30 + title.length + bytes.length;
  }
  const length = list.reduce((total, part) => total + part.length, 0);
  const end = pack([0x06054b50], [0, 0, files.length, files.length], [length, at], [0]);
  return new Blob([...parts, ...list, end], { type: "application/zip" });
}

/** Numbers of 32 and 16 bits by turns, group by group. */
function pack(...groups) {
  const bytes = new DataView(new ArrayBuffer(groups.reduce((total, group, index) => total + group.length * (index % 2 ? 2 : 4), 0)));
  let at = 0;
  groups.forEach((group, index) => group.forEach((value) => {
    if (index % 2) { bytes.setUint16(at, value, true); at += 2; } else { bytes.setUint32(at, value, true); at += 4; }
  }));
  return new Uint8Array(bytes.buffer);
}
