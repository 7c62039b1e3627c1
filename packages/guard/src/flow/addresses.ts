import { type HostFilter, parseAllowedUrl } from './allowed-url.ts'
import { isHostLike } from './host-like.ts'

const removedLink = '[link removed]'

/** Up to a character that may end an address. The text after that is scanned again. */
const urlRest = String.raw`(?:[^\s<>"'\x60)\]}\\]|\\[^\s"])*`
const bareSchemes =
  'https?|mailto|data|javascript|vbscript|tel|sms|blob|file|ftp|magnet|xmpp|sips?|skype|whatsapp|tg|intent|market|ms-[a-z]+|slack|vscode'
/** The characters that linkifiers accept in a host name, and more. */
const label = String.raw`(?:[^\p{Z}\p{Cc}\p{P}<>\uff5c]|[-_])`
const name = `${label}+(?:\\.${label}+)+(?:(?<=www)\\.)?`

/** Text that a parser may turn into a link without any markup. Linear: each alternative is bounded or anchored at an edge. */
const candidate = new RegExp(
  [
    `(?<url>(?:[a-z][a-z0-9+.-]{0,30})?:[\\\\/]{2}${urlRest})`,
    `(?<scheme>(?<![\\p{L}\\p{N}])(?:${bareSchemes}):(?=\\S)${urlRest})`,
    `(?<relative>(?<![\\p{L}\\p{N}:])//${urlRest})`,
    `(?<www>(?:www\\.(?=[^\\s.])|(?<![\\p{L}\\p{N}])www\\.)${urlRest})`,
    `(?<mail>(?<![\\s@])@(?:${label}*\\.)+${label}+)`,
    `(?<host>(?<!${label})${name})`,
  ].join('|'),
  'iu',
)

/** Without one of these there is no candidate. */
const candidateSign = /[:@.](?=[^\s.])|www\.|\/\//i

/**
 * Returns a line without addresses that lead elsewhere. Those with a scheme are removed; dots in host names and mail addresses become
 * `[.]`.
 */
export function removeAddresses(line: string, isAllowedHost: HostFilter): string {
  if (!candidateSign.test(line)) return line
  return line.replace(/[^ \t]+/g, (token) => (candidateSign.test(token) ? cleanWord(token, isAllowedHost) : token))
}

function cleanWord(word: string, isAllowedHost: HostFilter): string {
  const clean = replaceCandidates(word, isAllowedHost)
  if (!clean.includes('\\')) return clean
  // Some readers look for addresses after resolving escapes.
  const unescaped = clean.replace(/\\([!-/:-@[-`{-~])/g, '$1')
  return replaceCandidates(unescaped, isAllowedHost) === unescaped ? clean : removedLink
}

function replaceCandidates(found: string, isAllowedHost: HostFilter): string {
  let out = ''
  let text = found
  for (let match = candidate.exec(text); match !== null; match = candidate.exec(text)) {
    const [replacement, consumed] = replacementFor(match, text, isAllowedHost)
    out += text.slice(0, match.index) + replacement
    text = text.slice(match.index + consumed)
  }
  return out + text
}

type Replacement = [written: string, taken: number]

function replacementFor(match: RegExpExecArray, text: string, isAllowedHost: HostFilter): Replacement {
  const [whole] = match
  const { url, relative, mail, host, www } = match.groups as Record<string, string | undefined>
  // A path of Windows, as in a text with escapes. What follows is looked at, too.
  if (url !== undefined && /^[a-z]:\\\\/i.test(url)) return [whole.slice(0, 2), 2]
  if (url !== undefined) return keepAllowed(text, match.index, isAllowedHost) ?? [removedLink, whole.length]
  if (relative !== undefined) return [/[.:@]|localhost/i.test(whole) ? removedLink : whole, whole.length]
  if (mail !== undefined) return [defang(whole), whole.length]
  if (www !== undefined) return keepAllowedHost(match, text, isAllowedHost) ?? [removedLink, whole.length]
  if (host === undefined) return [removedLink, whole.length]
  if (!isHostLike(host)) return [host, host.length]
  return keepAllowedHost(match, text, isAllowedHost) ?? [defang(host), host.length]
}

function defang(host: string): string {
  return host.replaceAll('.', '[.]')
}

/** Returns an allowed address, as far as every parser reads it the same way. */
function keepAllowed(text: string, at: number, isAllowedHost: HostFilter): Replacement | undefined {
  const allowed = parseAllowedUrl(text, at, isAllowedHost)
  if (allowed === undefined) return undefined
  const { url, isBare } = allowed
  const rest = text.slice(at + url.length)
  if (!isBare || /^[)"'.,;:!?]*$/.test(rest)) return [url, url.length]
  // The slash ends the host name, whatever a parser considers part of it.
  return /^[)\]>"'.,;!*_~|}<]/.test(rest) ? [`${url}/`, url.length] : undefined
}

/**
 * Keeps an allowed host without a scheme. Its path is checked separately, because a linkifier that does not know the host may link text in
 * the path.
 */
function keepAllowedHost(
  { index, 0: whole }: RegExpExecArray,
  text: string,
  isAllowedHost: HostFilter,
): Replacement | undefined {
  if (index > 0 && !/[("'[>*]/.test(text.charAt(index - 1))) return undefined
  const host = /^[a-z0-9.-]*[a-z0-9]/i.exec(whole)?.[0] ?? ''
  const isComplete = /^(?:[/?#]|[)"'.,;:!?]*$)/.test(text.slice(index + host.length))
  return isComplete && isAllowedHost(host.toLowerCase()) ? [host, host.length] : undefined
}
