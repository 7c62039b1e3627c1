import { type Detector, isDigit, isLetter, isWord, runStart, type Span } from '@allium/shared/detect'

/** Email addresses: around each @. */
export const email: Detector = { type: 'email', longest: 460, partialMatchStart, find }

function find(text: string, from: number): Span | undefined {
  for (let at = text.indexOf('@', from); at >= 0; at = text.indexOf('@', at + 1)) {
    const start = localStart(text, from, at)
    if (start === at) continue
    const end = domainEnd(text, at + 1)
    if (end > at && !isUrlUserinfo(text, start, at, end)) return { start, end }
  }
  return undefined
}

// The name before the @: words of letters and digits, separated by single marks

function localStart(text: string, from: number, at: number): number {
  const first = Math.max(from, at - 64)
  const isLatin = isLatinAt(text, at - 1)
  let start = at
  while (start > first) {
    const code = text.charCodeAt(start - 1)
    const isWordHere =
      isWord(code) || (code > 127 && (isLatin ? isLatinAt(text, start - 1) : isLetterAt(text, start - 1)))
    if (!isWordHere && !(isMark(code) && isAllowedMark(text, start - 1, first, at))) break
    start--
  }
  while (start < at && isMark(text.charCodeAt(start))) start++
  return start
}

const isMark = (code: number): boolean => "._%+-'&".includes(String.fromCharCode(code))

/** A quote or an ampersand joins two letters. Other marks may follow each other. */
function isAllowedMark(text: string, at: number, first: number, end: number): boolean {
  const code = text.charCodeAt(at)
  if (code === 45 || code === 95) return true
  const before = text.charCodeAt(at - 1)
  if (at === first || !(isWord(before) || before > 127 || before === 45 || before === 95)) return false
  if (code !== 39 && code !== 38) return true
  const next = text.charCodeAt(at + 1)
  return code === 39 && at + 1 < end && isLetter(before) && isLetter(next)
}

const latin = /[\p{Script=Latin}\p{Script=Inherited}]/u
const letter = /[\p{L}\p{M}\p{N}]/u
const isLatinAt = (text: string, at: number): boolean => text.charCodeAt(at) < 128 || latin.test(text.charAt(at))
const isLetterAt = (text: string, at: number): boolean =>
  letter.test(text.charAt(at)) || /[\ud800-\udfff]/.test(text.charAt(at))

// The domain: it ends with the last label that can be a top-level domain

function domainEnd(text: string, from: number): number {
  let end = -1
  for (let at = from, labels = 0; labels < 10 && at - from < 255; labels++) {
    const label = labelEnd(text, at)
    if (label === at) break
    if (labels > 0) {
      const top = topLevel(text, at, label)
      if (end > 0 && isNextSentence(text, from, at)) break
      if (top > at && !isFileExtension(text.slice(at, top))) end = top
    }
    if (text.charCodeAt(label) !== 46) break
    at = label + 1
  }
  return end
}

function labelEnd(text: string, from: number): number {
  let at = from
  while (at < text.length && at - from < 63) {
    const code = text.charCodeAt(at)
    if (!isWord(code) && (code !== 45 || at === from) && !(code > 127 && isLetterAt(text, at))) break
    at++
  }
  return at
}

/** Letters of one script, or an encoded name. Text attached without a dot does not belong to it. */
function topLevel(text: string, from: number, end: number): number {
  if (/^xn--/i.test(text.slice(from, from + 4))) return end
  let at = from
  if (text.charCodeAt(from) < 128) while (at < end && isLetter(text.charCodeAt(at))) at++
  else while (at < end && text.charCodeAt(at) > 127) at++
  const next = text.charCodeAt(at)
  return at - from < 2 || at - from > 24 || isDigit(next) ? -1 : at
}

/** "Write to jane@example.com.Then wait." */
function isNextSentence(text: string, from: number, at: number): boolean {
  return /^[A-Z][a-z]/.test(text.slice(at, at + 2)) && !/[A-Z]/.test(text.slice(from, at))
}

const fileExtensions = new Set(
  'png jpg jpeg gif svg webp ico bmp tif tiff avif pdf doc docx xls xlsx ppt pptx csv tsv txt log json jsonl yaml yml toml xml html htm css scss less js mjs cjs jsx tsx map wasm lock tgz gz bz2 tar whl jar exe dll bin dmg mp3 mp4 wav ttf woff woff2'.split(
    ' ',
  ),
)
const isFileExtension = (top: string): boolean => fileExtensions.has(top.toLowerCase())

/** Whether it is the user part of a URL: `https://user:secret@host`, `git@host:path/to`. */
function isUrlUserinfo(text: string, start: number, at: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 60), start)
  if (/:\/\/[^\s/?#"'<>]*$/.test(before)) return true
  if (/^(?:git|hg|svn|ssh)$/.test(text.slice(start, at)) && /[:/]/.test(text.charAt(end))) return true
  return /^:[\w.~-]{1,64}\/[\w.~-]/.test(text.slice(end, end + 68))
}

/** Returns the start of text that may still become an address: the name, the domain, or the path that would make it a URL. */
function partialMatchStart(text: string): number {
  const run = runStart(text, text.length, 460, isAddressCharacter)
  const at = text.lastIndexOf('@')
  return at >= run ? run : Math.max(run, text.length - 65)
}

const isAddressCharacter = (code: number): boolean =>
  code > 127 || isWord(code) || ":/@._%+-'&~".includes(String.fromCharCode(code))
