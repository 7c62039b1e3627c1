import { allowedAt, type MayLink } from './allowed-url.ts'
import { isHostLike } from './host-like.ts'

const removed = '[link removed]'

/** Up to a character that may end an address. What stands behind that is looked at anew. */
const rest = String.raw`(?:[^\s<>"'\x60)\]}\\]|\\[^\s"])*`
const bareSchemes =
  'https?|mailto|data|javascript|vbscript|tel|sms|blob|file|ftp|magnet|xmpp|sips?|skype|whatsapp|tg|intent|market|ms-[a-z]+|slack|vscode'
/** Of what linkifiers take a host's name to consist, and of more. */
const label = String.raw`(?:[^\p{Z}\p{Cc}\p{P}<>\uff5c]|[-_])`
const name = `${label}+(?:\\.${label}+)+(?:(?<=www)\\.)?`

/** What a parser may make a link of by itself, without any markup. Linear: each way to begin is bounded or stands at an edge. */
const candidate = new RegExp(
  [
    `(?<url>(?:[a-z][a-z0-9+.-]{0,30})?:[\\\\/]{2}${rest})`,
    `(?<scheme>(?<![\\p{L}\\p{N}])(?:${bareSchemes}):(?=\\S)${rest})`,
    `(?<relative>(?<![\\p{L}\\p{N}:])//${rest})`,
    `(?<www>(?:www\\.(?=[^\\s.])|(?<![\\p{L}\\p{N}])www\\.)${rest})`,
    `(?<mail>(?<![\\s@])@(?:${label}*\\.)+${label}+)`,
    `(?<host>(?<!${label})${name})`,
  ].join('|'),
  'iu',
)

/** Without one of these there is no candidate. */
const sign = /[:@.](?=[^\s.])|www\.|\/\//i

/** A line without addresses that lead elsewhere: those with a scheme are removed, names of hosts and mail addresses are written with `[.]`. */
export function withoutAddresses(line: string, may: MayLink): string {
  if (!sign.test(line)) return line
  return line.replace(/[^ \t]+/g, (found) => (sign.test(found) ? inWord(found, may) : found))
}

function inWord(found: string, may: MayLink): string {
  const clean = scan(found, may)
  if (!clean.includes('\\')) return clean
  // Some readers look for addresses when escapes are gone.
  const shown = clean.replace(/\\([!-/:-@[-`{-~])/g, '$1')
  return scan(shown, may) === shown ? clean : removed
}

function scan(found: string, may: MayLink): string {
  let out = ''
  let text = found
  for (let match = candidate.exec(text); match !== null; match = candidate.exec(text)) {
    const [written, taken] = decide(match, text, may)
    out += text.slice(0, match.index) + written
    text = text.slice(match.index + taken)
  }
  return out + text
}

type Decided = [written: string, taken: number]

function decide(match: RegExpExecArray, text: string, may: MayLink): Decided {
  const [whole] = match
  const { url, relative, mail, host, www } = match.groups as Record<string, string | undefined>
  if (url !== undefined) return kept(text, match.index, may) ?? [removed, whole.length]
  if (relative !== undefined) return [/[.:@]|localhost/i.test(whole) ? removed : whole, whole.length]
  if (mail !== undefined) return [defanged(whole), whole.length]
  if (www !== undefined) return keptHost(match, text, may) ?? [removed, whole.length]
  if (host === undefined) return [removed, whole.length]
  if (!isHostLike(host)) return [host, host.length]
  return keptHost(match, text, may) ?? [defanged(host), host.length]
}

function defanged(host: string): string {
  return host.replaceAll('.', '[.]')
}

/** An allowed address, as far as it is read in one way alone. */
function kept(text: string, at: number, may: MayLink): Decided | undefined {
  const allowed = allowedAt(text, at, may)
  if (allowed === undefined) return undefined
  const { url, isBare } = allowed
  const behind = text.slice(at + url.length)
  if (!isBare || /^[)"'.,;:!?]*$/.test(behind)) return [url, url.length]
  // The slash ends the host's name, whatever a parser takes for a part of it.
  return /^[)\]>"'.,;!*_~|}<]/.test(behind) ? [`${url}/`, url.length] : undefined
}

/** An allowed host without a scheme. Its path is looked at by itself: a linkifier that does not know the host links what it finds there. */
function keptHost({ index, 0: whole }: RegExpExecArray, text: string, may: MayLink): Decided | undefined {
  if (index > 0 && !/[("'[>*]/.test(text.charAt(index - 1))) return undefined
  const host = /^[a-z0-9.-]*[a-z0-9]/i.exec(whole)?.[0] ?? ''
  const isWhole = /^(?:[/?#]|[)"'.,;:!?]*$)/.test(text.slice(index + host.length))
  return isWhole && may(host.toLowerCase()) ? [host, host.length] : undefined
}
