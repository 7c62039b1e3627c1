/** HTML whose texts are escaped. */
export class Markup {
  constructor(readonly text: string) {}
}

type Value = string | number | undefined | Markup | readonly (Markup | undefined)[]

/** A template of HTML. Escapes every value that is no markup itself, for elements and for attributes in double quotes. */
export function html(texts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(texts.map((text, at) => text + (at < values.length ? written(values[at]) : '')).join(''))
}

function written(value: Value): string {
  if (value === undefined) return ''
  if (value instanceof Markup) return value.text
  if (typeof value === 'object') return value.map(written).join('')
  return escaped(String(value))
}

/** Characters that a browser would interpret, hide, or show in another direction are shown as codes. */
function escaped(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replace(
      /(?![\n\t\u200d])[\p{C}\p{Zl}\p{Zp}]/gu,
      (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
    )
}

/** Cuts a text, and says how much is missing. */
export function shortened(text: string, limit: number): string {
  return text.length <= limit
    ? text
    : `${text.slice(0, limit)}… (${(text.length - limit).toLocaleString('en')} more characters)`
}
