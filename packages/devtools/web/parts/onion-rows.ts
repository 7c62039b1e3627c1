import type { Span, Turn } from '../store/trace.ts'

/** Spans of a turn up to which all calls are open at first. */
const openUpTo = 300

/** Whether the children of a span are shown, unless the user has changed that. In a long turn, calls are closed at first. */
function isOpenByDefault(span: Span, { spans }: Turn): boolean {
  return spans.size <= openUpTo || span.scope === 'turn'
}

/** Returns the spans that are shown, in the order of the tree. */
export function visibleSpans(turn: Turn, toggled: ReadonlySet<number>): Span[] {
  const rows: Span[] = []
  const add = (span: Span) => {
    if (isPlan(span)) return
    rows.push(span)
    if (isOpen(span, turn, toggled)) for (const child of span.children) add(child)
  }
  for (const root of turn.roots) add(root)
  return rows
}

export function isOpen(span: Span, turn: Turn, toggled: ReadonlySet<number>): boolean {
  return isOpenByDefault(span, turn) !== toggled.has(span.id)
}

/** Whether the code of a workflow only said here which steps come next. */
function isPlan({ scope, layer, subject, decision }: Span): boolean {
  return scope === 'model' && layer === 'workflow' && subject === layer && decision === 'skipped'
}
