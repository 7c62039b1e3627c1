import { fold } from '@allium/shared/detect'

/** Returns a text without the secrets, whether they are written plainly or with URL or JSON escapes. */
export function hide(text: string, secrets: readonly string[]): string {
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length)
  const plain = longestFirst.flatMap(encodings).reduce(replacePlain, text)
  return longestFirst.reduce(replaceFolded, plain)
}

/** Returns the forms that URL and JSON encoders give a secret, also inside another secret. Other forms are found by folding. */
function encodings(secret: string): string[] {
  const urls = [encodeURI, encodeURIComponent].flatMap((write) => [write(well(secret)), write(write(well(secret)))])
  const small = urls.map((url) => url.replace(/%(?:25)*[\dA-F]{2}/g, (code) => code.toLowerCase()))
  const all = [...urls, ...small, inJson(inJson(secret)), inJson(secret), secret]
  return [...new Set(all)].sort((a, b) => b.length - a.length)
}

/** A lone surrogate has no form in a URL. */
const well = (text: string): string => text.replace(/\p{Cs}/gu, '\ufffd')
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

function replacePlain(text: string, secret: string): string {
  return text.replaceAll(secret, placeholder)
}

function replaceFolded(text: string, secret: string): string {
  const folded = fold(text)
  const foldedSecret = fold(secret).text
  if (foldedSecret === '') return text
  let hidden = ''
  let from = 0
  for (
    let at = folded.text.indexOf(foldedSecret);
    at >= 0;
    at = folded.text.indexOf(foldedSecret, at + foldedSecret.length)
  ) {
    const [start, end] = folded.original(at, at + foldedSecret.length)
    hidden += text.slice(from, start) + placeholder
    from = end
  }
  return from === 0 ? text : hidden + text.slice(from)
}

const placeholder = '[secret]'
