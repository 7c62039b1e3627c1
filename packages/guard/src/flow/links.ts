/** Says of a host whether links may lead there. */
export type MayLink = (host: string) => boolean

/** Hosts by name; `*.example.com` stands for what is below it. */
export function hostsOf(hosts: readonly string[]): MayLink {
  const known = hosts.map((host) => host.toLowerCase())
  return (host) => known.some((one) => (one.startsWith('*.') ? host.endsWith(one.slice(1)) : host === one))
}

/**
 * A text without what a renderer would make a link or an image of that leads elsewhere: Markdown (inline, by reference, `<…>`), HTML, and
 * bare addresses, of any scheme and of none, also where characters are written as entities or escapes.
 */
export function withoutLinks(text: string, may: MayLink): string {
  const inert = escapeTags(text, may)
  const aimless = inert.replace(destination, (all, before: string, written: string) =>
    leadsElsewhere(written, may) ? `${before}#removed` : all,
  )
  return aimless
    .replace(address, (found) => (isAllowed(found, may) ? found : removed))
    .replace(bareHost, (found) => (isAllowed(`https://${found}`, may) ? found : removed))
}

const removed = '[link removed]'
const slash = String.raw`(?:\\?\/|\\|\\u00(?:2[fF]|5[cC])|&#0*(?:47|92);|&#[xX]0*(?:2[fF]|5[cC]);|&sol;|&bsol;)`
const colon = String.raw`(?::|\\:|\\u003[aA]|&#0*58;|&#[xX]0*3[aA];|&colon;)`
/** What goes on an address; a backslash only as a part of it, so that an escaped quote of JSON stays. */
const rest = String.raw`(?:[^\s<>"'\x60\\)\]}]|\\[/:@.]|\\u00[0-9a-fA-F]{2})*`
const bareSchemes =
  'mailto|data|javascript|vbscript|tel|sms|blob|file|ftp|magnet|xmpp|sips?|skype|whatsapp|tg|intent|market|ms-[a-z]+|slack|vscode'
const address = new RegExp(
  [
    `[a-zA-Z][a-zA-Z0-9+.-]{0,40}${colon}${slash}{2}${rest}`,
    String.raw`\b(?:${bareSchemes})${colon}(?=\S)${rest}`,
    String.raw`(?<![\w:/\\])${slash}{2}(?=[\w-]+\.)${rest}`,
  ].join('|'),
  'gi',
)
/** A host with no scheme, which some renderers link: with `www.`, a well-known end, or a path behind it. */
const name = String.raw`(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+`
const ends =
  'com|net|org|edu|gov|info|biz|io|ai|app|dev|xyz|site|online|top|club|shop|cloud|link|click|live|co|me|tv|tk|ru|cn'
const bareHost = new RegExp(
  String.raw`(?<![\p{L}\p{N}@._/:-])(?:www\.${name}?\S+?(?=[\s<>"')\]}]|$)|${name}(?:${ends})(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])(?:[:/?#]${rest})?|${name}[\p{L}]{2,24}(?::\d{1,5})?[/?]${rest})`,
  'giu',
)

/** Behind `](` or `]:`, with what may stand before it: the place that a link leads to. */
const destination = /(\](?:\(|:)[\s>]*)(<[^>\n]*>|[^\s)]+)/g

function leadsElsewhere(written: string, may: MayLink): boolean {
  const inner = written.replace(/^<|>$/g, '')
  if (isAllowed(inner, may)) return false
  const head = inner.slice(0, 200)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: browsers leave them out of an address
  const plain = head.replace(/\\(?=[!-/:-@[-`{-~])/g, '').replace(/[\u0000-\u0020\u200b-\u200f\u2060\ufeff]/g, '')
  return (
    /&[#\w]+;/.test(head) || /^[a-z][a-z0-9+.-]*:/i.test(plain) || /^[\\/]{2}/.test(plain) || /^[\\/]{2}/.test(inner)
  )
}

/** Of an address as it stands there, with nothing in its host that could be read in two ways. */
function isAllowed(found: string, may: MayLink): boolean {
  const host = /^https?:\/\/([a-z0-9.-]+)(?::\d{1,5})?(?:[/?#][^\s\\]*)?$/i.exec(found)?.[1]
  return host !== undefined && may(host.toLowerCase())
}

/** Tags that carry something, and `<scheme:…>`, are shown in place of taking effect. Linear: each mark is looked for once. */
function escapeTags(text: string, may: MayLink): string {
  let out = ''
  let from = 0
  let end = -1
  let equals = -1
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    if (!/[a-z!/?]/i.test(text.charAt(at + 1))) continue
    if (end < at) end = endOf(text, '>', at)
    if (equals < at) equals = endOf(text, '=', at)
    if (equals >= end && !isStyle(text, at) && !isForeign(text.slice(at + 1, Math.min(end, at + 200)), may)) continue
    out += `${text.slice(from, at)}&lt;`
    from = at + 1
  }
  return out + text.slice(from)
}

function isStyle(text: string, at: number): boolean {
  return /^<\/?(?:style|script|svg|math|iframe|object|embed|base|meta|link|form|template)\b/i.test(
    text.slice(at, at + 12),
  )
}

/** An autolink of a scheme that nobody knows here. */
function isForeign(inside: string, may: MayLink): boolean {
  return /^[a-z][a-z0-9+.-]{1,31}:/i.test(inside) && !isAllowed(inside, may)
}

function endOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from)
  return at < 0 ? text.length : at
}
