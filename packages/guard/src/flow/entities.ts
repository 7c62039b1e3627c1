/** Character references that may stay, because their characters cannot be part of an address. */
const harmlessEntities = new Set(
  (
    'amp lt gt quot apos nbsp copy reg trade hellip mdash ndash bull middot times deg euro pound yen cent sect para plusmn frac12 ' +
    'larr rarr uarr darr laquo raquo lsquo rsquo ldquo rdquo ensp emsp thinsp check minus le ge ne #39 #34 #160 #x27 #X27 #x22 #xA0 #xa0'
  ).split(' '),
)

/** Escapes all other character references. `&#46;`, `&colon;` and the like could turn harmless text into an address. */
export function escapeEntities(line: string): string {
  return line.replace(/&(#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,8}|[a-zA-Z][a-zA-Z0-9]{0,40});/g, (entity, name: string) =>
    harmlessEntities.has(name) ? entity : `&amp;${name};`,
  )
}
