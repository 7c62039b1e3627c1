/** Scripts without spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const wordPattern = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu
/** A longer word is cut: it is a token, a hash or an attack, and no person asks for its end. */
const longestWord = 64

/**
 * Returns the words of a text in lower case. Chinese, Japanese, Thai, Lao, Khmer and Burmese are split by a dictionary.
 *
 * @param locale for the dictionary and for lower case, as Turkish has rules of its own
 */
export function wordsOf(text: string, locale: string): string[] {
  const words: string[] = []
  for (const [run] of text.normalize('NFKC').toLocaleLowerCase(locale).matchAll(wordPattern))
    if (unspaced.test(run)) words.push(...segmentsOf(run))
    else words.push(run.replaceAll('’', "'").slice(0, longestWord))
  return words
}

let segmenter: Intl.Segmenter | undefined

function segmentsOf(run: string): string[] {
  // The dictionary depends on the script of the text, not on the locale.
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' })
  const words: string[] = []
  for (const { segment, isWordLike } of segmenter.segment(run))
    if (isWordLike === true) words.push(segment.slice(0, longestWord))
  return words
}
