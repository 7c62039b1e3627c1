import { styleText } from 'node:util'
import { printable } from './printable.ts'
import { wordWrap } from './word-wrap.ts'

export type Style = 'bold' | 'dim' | 'cyan' | 'green' | 'red' | 'yellow'

/** The column where text starts, after the label. */
const indent = 10

export type Screen = ReturnType<typeof createScreen>

/** Prints labeled lines, wrapped to the width of the terminal. Control characters are escaped. Pipes and NO_COLOR get no colors. */
export function createScreen(out: NodeJS.WritableStream & { columns?: number }) {
  const width = Math.min(Math.max(out.columns ?? 90, 60), 96)
  const write = (text: string) => out.write(text)
  const paint = (style: Style, text: string) => styleText(style, text, { stream: out })

  /** Prints a label and returns a stream for its text. */
  function open(label: string, style: Style) {
    write(paint(style, label.padEnd(indent)))
    const { push, end } = wordWrap(write, { indent, width })
    return { push: (text: string) => push(printable(text)), end }
  }

  return {
    width,
    paint,
    open,
    /** Prints a label and its text. */
    line(label: string, text: string, style: Style = 'dim'): void {
      const opened = open(label, style)
      opened.push(text)
      opened.end()
    },
    /** Prints a label and a secondary text, cut to one line. */
    aside(label: string, text: string, style: Style = 'dim'): void {
      const line = clip(oneLine(text), width - indent)
      write(`${paint(style, label.padEnd(indent))}${paint('dim', line)}\n`)
    },
    /** Prints a label and a question. The user types after it. */
    prompt(label: string, text: string): void {
      write(`${paint('yellow', label.padEnd(indent))}${oneLine(text)} `)
    },
    heading(text: string): void {
      write(`\n${paint('bold', oneLine(text))}\n${paint('dim', '─'.repeat(width))}\n`)
    },
    /** Prints lines that are already formatted and escaped. */
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
