import { styleText } from 'node:util'
import { printable } from './printable.ts'
import { wordWrap } from './word-wrap.ts'

export type Style = 'bold' | 'dim' | 'cyan' | 'green' | 'red' | 'yellow'

/** The column where text begins; labels stand before it. */
const indent = 10

export type Screen = ReturnType<typeof createScreen>

/** Lines with a label each, wrapped to the terminal; no text in them can steer it. Colour only where the stream takes it: NO_COLOR and pipes have none. */
export function createScreen(out: NodeJS.WritableStream & { columns?: number }) {
  const width = Math.min(Math.max(out.columns ?? 90, 60), 96)
  const write = (text: string) => out.write(text)
  const paint = (style: Style, text: string) => styleText(style, text, { stream: out })

  /** A label, and a stream of text beside it. */
  function open(label: string, style: Style) {
    write(paint(style, label.padEnd(indent)))
    const { push, end } = wordWrap(write, { indent, width })
    return { push: (text: string) => push(printable(text)), end }
  }

  return {
    width,
    paint,
    open,
    /** A label and its text. */
    line(label: string, text: string, style: Style = 'dim'): void {
      const opened = open(label, style)
      opened.push(text)
      opened.end()
    },
    /** A label and a text that matters less, cut to one line. */
    aside(label: string, text: string, style: Style = 'dim'): void {
      const line = clip(oneLine(text), width - indent)
      write(`${paint(style, label.padEnd(indent))}${paint('dim', line)}\n`)
    },
    /** A label and a question; what is typed stands behind it. */
    prompt(label: string, text: string): void {
      write(`${paint('yellow', label.padEnd(indent))}${oneLine(text)} `)
    },
    heading(text: string): void {
      write(`\n${paint('bold', oneLine(text))}\n${paint('dim', '─'.repeat(width))}\n`)
    },
    /** Lines that are laid out, and safe, already. */
    block(text: string): void {
      write(`${text.replace(/\n*$/, '')}\n`)
    },
    gap(): void {
      write('\n')
    },
  }
}

function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' '))
}

function clip(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text
}
