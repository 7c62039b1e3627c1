import { isWord } from '../chars.ts'
import type { Detector, Span } from '../detector.ts'
import { openKey } from './vendor-keys.ts'

/** Keys that are recognized by an inner part. When it is found, the text before and after it is checked. */
export const innerKeys: readonly Detector[] = [
  // Azure, Terraform, MaxMind, Telegram, Mailchimp; sources as in rules.ts
  innerKey('Q~', /[\w.~]{3}\d$/, 4, /[\w.~-]{31,34}/y),
  innerKey('.atlasv1.', /[A-Za-z0-9]{14}$/, 14, /[\w=-]{60,70}/y),
  innerKey('_mmk', /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}$/, 36, /(?!\w)/y),
  innerKey(':A', /\d{8,16}$/, 16, /[\w-]{34}/y),
  innerKey('-us', /^[a-f0-9]{32}$/, 32, /\d{1,2}/y),
]

function innerKey(marker: string, prefix: RegExp, maxGap: number, suffix: RegExp): Detector {
  return { type: 'api_key', longest: 512, partialMatchStart: openKey, find }

  function find(text: string, from: number): Span | undefined {
    for (let at = text.indexOf(marker, from); at >= 0; at = text.indexOf(marker, at + 1)) {
      const head = prefix.exec(text.slice(Math.max(from, at - maxGap), at))
      if (head === null) continue
      const start = at - head[0].length
      suffix.lastIndex = at + marker.length
      if (isWord(text.charCodeAt(start - 1)) || !suffix.test(text)) continue
      if (!isWord(text.charCodeAt(suffix.lastIndex))) return { start, end: suffix.lastIndex }
    }
    return undefined
  }
}
