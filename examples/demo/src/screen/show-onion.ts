import type { Screen } from './screen.ts'

/** The tree of one turn's layers, as `observe.onion` lays it out, with what a layer did in colour. */
export function showOnion(tree: string, screen: Screen): void {
  const [heading = '', ...layers] = tree.split('\n')
  screen.line('onion', heading)
  screen.block(layers.map((line) => colour(screen.clip(line), screen)).join('\n'))
}

function colour(line: string, { paint }: Screen): string {
  return line
    .replace(/^[│├└─ ]+/, (branch) => paint('dim', branch))
    .replace(/\d+\.\d ms( +passed)?/, (time) => paint('dim', time))
    .replace(/ (denied|blocked|failed|aborted)\b.*$/, (decision) => paint('red', decision))
    .replace(/ (retried|changed|skipped|recovered)\b.*$/, (decision) => paint('yellow', decision))
}
