import { isWord } from '../chars.ts'
import type { Detector, Span } from '../detector.ts'
import { openKey } from './vendor-keys.ts'

/** Keys that are told by what stands within them: where it does, what comes before and behind it is asked for. */
export const innerKeys: readonly Detector[] = [
  // Azure, Terraform, MaxMind, Telegram, Mailchimp; facts as in rules.ts
  inner('Q~', /[\w.~]{3}\d$/, 4, /[\w.~-]{31,34}/y),
  inner('.atlasv1.', /[A-Za-z0-9]{14}$/, 14, /[\w=-]{60,70}/y),
  inner('_mmk', /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}$/, 36, /(?!\w)/y),
  inner(':A', /\d{8,16}$/, 16, /[\w-]{34}/y),
  inner('-us', /^[a-f0-9]{32}$/, 32, /\d{1,2}/y),
]

function inner(mark: string, before: RegExp, most: number, behind: RegExp): Detector {
  return { type: 'api_key', longest: 512, open: openKey, find }

  function find(text: string, from: number): Span | undefined {
    for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + 1)) {
      const head = before.exec(text.slice(Math.max(from, at - most), at))
      if (head === null) continue
      const start = at - head[0].length
      behind.lastIndex = at + mark.length
      if (isWord(text.charCodeAt(start - 1)) || !behind.test(text)) continue
      if (!isWord(text.charCodeAt(behind.lastIndex))) return { start, end: behind.lastIndex }
    }
    return undefined
  }
}
