/** Moves the focus to the next call that needs a decision, or to the composer, so that it is not lost with the buttons. */
export function focusNextDecision(from: HTMLElement): void {
  const thread = from.closest('[data-allium-thread]')
  const open = [...(thread?.querySelectorAll('[data-allium-approval]:not([aria-busy="true"])') ?? [])]
  const next = open.find((approval) => !approval.contains(from))?.querySelector('button')
  ;(next ?? composerOf(thread))?.focus()
}

/** Moves the focus to the composer of the same thread. */
export function focusComposer(from: HTMLElement): void {
  composerOf(from.closest('[data-allium-thread]'))?.focus()
}

function composerOf(thread: Element | null): HTMLElement | null | undefined {
  return thread?.querySelector<HTMLElement>('[data-allium-composer]')
}

/** Moves the focus into a field that a button has opened. */
export function focus(field: HTMLElement | null): void {
  field?.focus()
}
