/** Cells of a table, in rows. */
export type Rows = readonly (readonly string[])[]

/** Returns the rows as lines with aligned columns. */
export function table(rows: Rows, gap = '  '): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))))
  return rows.map((row) =>
    row
      .map((cell, column) => padded(cell, widths[column] ?? 0))
      .join(gap)
      .trimEnd(),
  )
}

export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** Breaks a text between words into lines of at most `width` columns. A longer word has a line of its own. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** Cuts a text to a width. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let short = ''
  for (const character of text) {
    if (widthOf(short + character) > width - 1) break
    short += character
  }
  return `${short}…`
}

/** The columns of a text on a terminal: Chinese, Japanese and Korean characters and emoji take two, marks none. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text) if (!/\p{M}/u.test(character)) width += wide.test(character) ? 2 : 1
  return width
}

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

const codes = { red: 31, green: 32, yellow: 33, magenta: 35, bold: 1, dim: 2 }
export type Style = keyof typeof codes

/** Returns a function that styles a text, or one that leaves it. */
export function styler(color: boolean): (style: Style, text: string) => string {
  return (style, text) => (color ? `\u001b[${codes[style]}m${text}\u001b[0m` : text)
}
