import { findAll, hideSecrets, TextWindow } from '@allium/shared/detect'
import { describe, expect, it } from 'vitest'
import { piiDetectors } from '../src/pii/detectors.ts'
import { splits } from './scene.ts'

// Every type of value, in every context, beside every script, in every escape; and cut into two pieces at each place.

const values = {
  email: ["o'brien+news@mail.example.co.uk", 'jane_doe@example.com'],
  phone: ['+1 (415) 555-2671', '415-555-2671 x769'],
  card: ['4111 1111 1111 1111', '378282246310005'],
  iban: ['DE89 3704 0044 0532 0130 00', 'GB82WEST12345698765432'],
  ip: ['192.168.0.17', '2001:db8::ff00:42:8329'],
  ssn: ['078-05-1120'],
  api_key: ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH'],
}

const scripts = {
  Latin: 'Grüße',
  Cyrillic: 'Привет',
  Greek: 'Γειά',
  Arabic: 'مرحبا',
  Hebrew: 'שלום',
  Devanagari: 'नमस्ते',
  Thai: 'สวัสดี',
  Han: '你好',
  Hiragana: 'こんにちは',
  Hangul: '안녕하세요',
  Georgian: 'გამარჯობა',
  Tamil: 'வணக்கம்',
}

/** What stands around a value, with a word of a script. */
const contexts: Readonly<Record<string, (value: string, word: string) => string>> = {
  alone: (value) => value,
  sentence: (value, word) => `${word} ${value}, ${word}.`,
  end: (value, word) => `${word}: ${value}`,
  'curly quotes': (value, word) => `${word} “${value}” ${word}`,
  guillemets: (value, word) => `«${value}» ${word}`,
  'straight quotes': (value, word) => `${word}='${value}'`,
  brackets: (value, word) => `${word} (${value})[${word}]`,
  dash: (value, word) => `${value} — ${word}`,
  'no space, in a script that is not Latin': (value, word) => (/[a-z]/i.test(word) ? value : `${word}${value}${word}`),
  'full stop of Chinese': (value, word) => `${word}：${value}。${word}`,
  line: (value, word) => `${word}\n${value}\n${word}`,
  tab: (value, word) => `${word}\t${value}\t1`,
  Markdown: (value, word) => `- **${word}:** \`${value}\` _${word}_`,
  table: (value, word) => `| ${word} | ${value} | ${word} |`,
  code: (value, word) => `const a = "${value}" // ${word}`,
  XML: (value, word) => `<a b="${word}">${value}</a>`,
}

/** How a text may be written once more before it gets here. */
const escapes: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  JSON: (text) => JSON.stringify({ a: text }),
  'JSON in JSON': (text) => JSON.stringify(JSON.stringify([`\n${text}`])),
  'JSON in ASCII': (text) => JSON.stringify(text).replace(/[^\0-~]|[@+]/g, (char) => `\\u${hex(char, 4)}`),
  URL: (text) => `https://x.org/?q=${encodeURIComponent(text)}&p=1`,
  invisible: (text) => [...text].join('\u200b'),
}
const hex = (char: string, length: number) => char.charCodeAt(0).toString(16).padStart(length, '0')

interface Case {
  readonly type: string
  readonly value: string
  readonly text: string
  readonly name: string
}

const cases: readonly Case[] = Object.entries(values).flatMap(([type, some]) =>
  some.flatMap((value) =>
    Object.entries(scripts).flatMap(([script, word]) =>
      Object.entries(contexts).flatMap(([context, around]) =>
        Object.entries(escapes).map(([form, written]) => ({
          type,
          value,
          text: written(around(value, word)),
          name: `${type} ${value} · ${script} · ${context} · ${form}`,
        })),
      ),
    ),
  ),
)

const all = Object.values(piiDetectors).flat()
const told = (found: { type: string; value: string }) => `${found.type} ${found.value.replaceAll('\u200b', '')}`

describe('a value, whatever stands around it and however it is written', () => {
  it(`is found, and nothing beside it: ${cases.length} texts`, () => {
    const wrong = cases.filter(({ type, value, text }) => {
      const found = findAll(all, text)
      return found.length !== 1 || told(found[0] as never) !== `${type} ${value}`
    })
    expect(wrong.slice(0, 20).map(({ name, text }) => [name, text, findAll(all, text).map(told)])).toEqual([])
  })

  it('is found in two pieces as in one, wherever the cut is', () => {
    const wrong: unknown[] = []
    for (const { name, text } of cases.filter((_, i) => i % 17 === 0)) {
      const whole = JSON.stringify(findAll(all, text))
      for (const pieces of splits(text)) {
        const window = new TextWindow(all)
        const found = [...pieces.flatMap((piece) => window.add(piece)), ...window.end()]
        if (JSON.stringify(found) !== whole) wrong.push([name, pieces, found])
      }
    }
    expect(wrong.slice(0, 5)).toEqual([])
  }, 60_000)

  it('is in no log and no recording, where it is a key', () => {
    const left = cases.filter(({ type, value, text }) => {
      const hidden = hideSecrets(text, '[hidden]').replaceAll('\u200b', '')
      return type === 'api_key' && (hidden.includes(value) || hidden.split('[hidden]').length !== 2)
    })
    expect(left.slice(0, 20)).toEqual([])
  })
})
