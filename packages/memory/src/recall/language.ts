/** How the words of a language become terms. */
export interface Language {
  readonly locale: string
  /** Returns the stem of a word in lower case: "running" and "runs" have the same. */
  stem(word: string): string
  isStopWord(word: string): boolean
}

type Parts = [{ readonly stemmer: (word: string) => string }, { readonly stopwords: readonly string[] }]

/** The languages with a stemmer. Each loads when an agent first needs it. */
const stemmed = {
  ar: () => Promise.all([import('@orama/stemmers/arabic'), import('@orama/stopwords/arabic')]),
  da: () => Promise.all([import('@orama/stemmers/danish'), import('@orama/stopwords/danish')]),
  de: () => Promise.all([import('@orama/stemmers/german'), import('@orama/stopwords/german')]),
  en: () => Promise.all([import('@orama/stemmers/english'), import('@orama/stopwords/english')]),
  es: () => Promise.all([import('@orama/stemmers/spanish'), import('@orama/stopwords/spanish')]),
  fi: () => Promise.all([import('@orama/stemmers/finnish'), import('@orama/stopwords/finnish')]),
  fr: () => Promise.all([import('@orama/stemmers/french'), import('@orama/stopwords/french')]),
  hu: () => Promise.all([import('@orama/stemmers/hungarian'), import('@orama/stopwords/hungarian')]),
  it: () => Promise.all([import('@orama/stemmers/italian'), import('@orama/stopwords/italian')]),
  nl: () => Promise.all([import('@orama/stemmers/dutch'), import('@orama/stopwords/dutch')]),
  no: () => Promise.all([import('@orama/stemmers/norwegian'), import('@orama/stopwords/norwegian')]),
  pt: () => Promise.all([import('@orama/stemmers/portuguese'), import('@orama/stopwords/portuguese')]),
  ro: () => Promise.all([import('@orama/stemmers/romanian'), import('@orama/stopwords/romanian')]),
  ru: () => Promise.all([import('@orama/stemmers/russian'), import('@orama/stopwords/russian')]),
  sv: () => Promise.all([import('@orama/stemmers/swedish'), import('@orama/stopwords/swedish')]),
  tr: () => Promise.all([import('@orama/stemmers/turkish'), import('@orama/stopwords/turkish')]),
} satisfies Record<string, () => Promise<Parts>>

/** Languages without inflected words, or whose words a dictionary separates. */
const unstemmed = ['ja', 'ko', 'th', 'vi', 'zh'] as const

/** A language of recall, as its code of two letters. */
export type RecallLanguage = keyof typeof stemmed | (typeof unstemmed)[number]

/** The codes of all languages. */
export const recallLanguages: readonly RecallLanguage[] = [
  ...(Object.keys(stemmed) as (keyof typeof stemmed)[]),
  ...unstemmed,
]

const loaded = new Map<RecallLanguage, Promise<Language>>()

/** Loads a language once in a process. */
export function loadLanguage(code: RecallLanguage): Promise<Language> {
  let language = loaded.get(code)
  if (language === undefined) loaded.set(code, (language = load(code)))
  return language
}

async function load(code: RecallLanguage): Promise<Language> {
  if (!Object.hasOwn(stemmed, code)) return { locale: code, stem: (word) => word, isStopWord: () => false }
  const [{ stemmer }, { stopwords }] = await stemmed[code as keyof typeof stemmed]()
  const known = new Set(stopwords)
  return { locale: code, stem: memoized(stemmer), isStopWord: (word) => known.has(word) }
}

const mostStems = 20_000

/** A person uses few words again and again, and a stemmer takes longer than a lookup. */
function memoized(stemmer: (word: string) => string): (word: string) => string {
  const stems = new Map<string, string>()
  return (word) => {
    const known = stems.get(word)
    if (known !== undefined) return known
    const stem = stemmer(word)
    if (stems.size >= mostStems) stems.clear()
    stems.set(word, stem)
    return stem
  }
}
