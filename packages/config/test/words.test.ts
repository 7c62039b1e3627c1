import { describe, expect, test } from 'vitest'
import { kindOf } from '../src/entries/entry-kind.ts'
import { splitCommand } from '../src/shell/split-command.ts'

describe('the text of an entry', () => {
  test.each([
    ['(ctx) => { ctx.stop() }', 'inline'],
    ['async function (ctx) {}', 'inline'],
    ['// a note\n(ctx) => {}', 'inline'],
    ['/* a note */ (ctx) => {}', 'inline'],
    ["(ctx) => import('./x.ts')", 'inline'],
    ['hook', 'inline'],
    ['./hook.ts', 'file'],
    ['../hooks/a b.js', 'file'],
    ['/etc/hook.mjs', 'file'],
    ['~/hooks/hook.ts', 'file'],
    ['middleware/hook.ts', 'file'],
    ['mïddle/höok.js', 'file'],
    ['プラグイン/確認.py', 'script'],
    ['größe', 'inline'],
    ['./policy.sh', 'script'],
    ['guardrail.py', 'script'],
    ['./a.R', 'script'],
    ['./my-checker', 'unknown'],
    ['shell: python3 ./a.py --strict', 'shell'],
    ['shell:/bin/true', 'shell'],
  ])('%j is: %s', (text, kind) => {
    expect(kindOf(text)).toBe(kind)
  })

  test.each(['sh', 'bash', 'zsh', 'py', 'rb', 'pl', 'php', 'lua', 'r'])(
    'with the extension .%s is a script',
    (extension) => {
      expect(kindOf(`./hook.${extension}`)).toBe('script')
    },
  )
})

describe('the words of a command', () => {
  test.each([
    ['a  b\tc', ['a', 'b', 'c']],
    [`a 'b c' "d e"`, ['a', 'b c', 'd e']],
    [`a"b c"'d e'f`, ['ab cd ef']],
    [`a '' ""`, ['a', '', '']],
    [`"it's" '"'`, ["it's", '"']],
    ['a\\ b $X', ['a\\', 'b', '$X']],
    ['', []],
    [`a "b`, undefined],
  ])('%j are: %j', (line, words) => {
    expect(splitCommand(line)).toEqual(words)
  })
})
