import { describe, expect, it } from 'vitest'
import { loadLanguage, type RecallLanguage, recallLanguages } from '../../src/recall/language.ts'
import { messageTerms, questionTerms } from '../../src/recall/terms.ts'
import { asks, found, scene } from './scene.ts'

const may4 = Date.UTC(2026, 4, 4)
const decoy = 'Apples, bread and milk.'

/** What is written, what is asked in other forms of the words. */
const conversations: readonly [RecallLanguage, written: string, asked: string][] = [
  ['en', "My sister's alpacas are running.", 'Does an alpaca run?'],
  ['de', 'Die Zähne meiner Katzen müssen geputzt werden.', 'Katze putzen'],
  ['tr', 'Kitaplarım İstanbul’da kaldı.', 'istanbul kitap'],
  ['ja', '妹はペルーでアルパカを飼っています。', 'アルパカ'],
  ['zh', '我妹妹在秘鲁养羊驼。', '秘鲁的妹妹'],
  ['th', 'น้องสาวของฉันเลี้ยงแมวที่เชียงใหม่', 'แมวของน้องสาว'],
]

describe('the languages of memory.recall', () => {
  it.each(conversations)(
    'finds %s by other forms of its words, or by words inside a sentence',
    async (language, written, asked) => {
      const { chat } = scene({ language, limit: 1 })
      await chat('x', [decoy], ['Ok.'])
      await chat('y', [written], ['Ok.'])
      await chat('z', [decoy], ['Ok.'])
      const { result } = await chat('now', ['?'], [asks(asked), 'Ok.'])
      expect(found(result)).toEqual([written])
    },
  )

  it('loads each language that it offers', async () => {
    const terms = await Promise.all(
      recallLanguages.map(async (code) => messageTerms('Alpaka', may4, await loadLanguage(code))),
    )
    expect(terms.every(({ size }) => size >= 5)).toBe(true)
  })

  it('finds a message by its date, in English and in the language', async () => {
    const german = await loadLanguage('de')
    const written = messageTerms('Hallo', may4, german)
    for (const question of ['What was on May 4th, 2026?', 'Was war am 4. Mai 2026?', 'Monday', 'Montag'])
      expect(
        questionTerms(question, german).filter((term) => term.startsWith('date:') && written.has(term)),
      ).not.toEqual([])
    expect(written.has('2026')).toBe(false)
  })

  it('reads full width and composed letters as the plain ones, and drops stop words', async () => {
    const english = await loadLanguage('en')
    expect(questionTerms('Ａｌｐａｃａ', english)).toEqual(questionTerms('the alpaca', english))
    expect(questionTerms('Cafe\u0301', english)).toEqual(questionTerms('caf\u00e9', english))
    expect(questionTerms('What was the one of it?', english)).toEqual(['on'])
  })

  it('bounds what a hostile text costs: terms of a question, the length of a word, the text that is read', async () => {
    const english = await loadLanguage('en')
    const many = Array.from({ length: 5_000 }, (_, i) => `w${i}`).join(' ')
    expect(questionTerms(many, english)).toHaveLength(64)
    expect(questionTerms('x'.repeat(1_000_000), english)[0]?.length).toBeLessThanOrEqual(64)
    expect(messageTerms('alpaca '.repeat(100_000), may4, english).get('alpaca')).toBeLessThan(20_000)
  })
})
