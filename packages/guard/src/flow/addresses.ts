import { type HostFilter, parseAllowedUrl } from './allowed-url.ts'
import { isHostLike } from './host-like.ts'

const removedLink = '[link removed]'

/** Up to a character that may end an address. What stands behind that is looked at anew. */
const urlRest = String.raw`(?:[^\s<>"'\x60)\]}\\]|\\[^\s"])*`
const bareSchemes =
  'https?|mailto|data|javascript|vbscript|tel|sms|blob|file|ftp|magnet|xmpp|sips?|skype|whatsapp|tg|intent|market|ms-[a-z]+|slack|vscode'
/** Of what linkifiers take a host's name to consist, and of more. */
const label = String.raw`(?:[^\p{Z}\p{Cc}\p{P}<>\uff5c]|[-_])`
const name = `${label}+(?:\\.${label}+)+(?:(?<=www)\\.)?`

/** What a parser may make a link of by itself, without any markup. Linear: each way to begin is bounded or stands at an edge. */
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

/** A line without addresses that lead elsewhere: those with a scheme are removed, names of hosts and mail addresses are written with `[.]`. */
export function removeAddresses(line: string, isAllowedHost: HostFilter): string {
  if (!candidateSign.test(line)) return line
  return line.replace(/[^ \t]+/g, (token) => (candidateSign.test(token) ? cleanWord(token, isAllowedHost) : token))
}

function cleanWord(word: string, isAllowedHost: HostFilter): string {
  const clean = replaceCandidates(word, isAllowedHost)
  if (!clean.includes('\\')) return clean
  // Some readers look for addresses when escapes are gone.
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

/** An allowed address, as far as it is read in one way alone. */
function keepAllowed(text: string, at: number, isAllowedHost: HostFilter): Replacement | undefined {
  const allowed = parseAllowedUrl(text, at, isAllowedHost)
  if (allowed === undefined) return undefined
  const { url, isBare } = allowed
  const rest = text.slice(at + url.length)
  if (!isBare || /^[)"'.,;:!?]*$/.test(rest)) return [url, url.length]
  // The slash ends the host's name, whatever a parser takes for a part of it.
  return /^[)\]>"'.,;!*_~|}<]/.test(rest) ? [`${url}/`, url.length] : undefined
}

/** An allowed host without a scheme. Its path is looked at by itself: a linkifier that does not know the host links what it finds there. */
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
