import type * as observe from 'allium/observe'
import type { Screen, Style } from './screen.ts'

const styles: Partial<Record<observe.OnionTextKind, Style>> = {
  branch: 'dim',
  call: 'dim',
  time: 'dim',
  passed: 'dim',
  changed: 'yellow',
  stopped: 'red',
}

/** Prints the layers of a turn as a tree, with their decisions in color. */
export function showOnion(onion: observe.Onion, turnId: string, screen: Screen): void {
  const tree = onion.toText(turnId, {
    width: screen.width,
    paint(text, kind) {
      const style = styles[kind]
      return style === undefined ? text : screen.paint(style, text)
    },
  })
  const [heading = '', ...layers] = tree.split('\n')
  screen.line('onion', heading)
  screen.block(layers.join('\n'))
}
