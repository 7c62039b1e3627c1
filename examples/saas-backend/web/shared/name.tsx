export interface NameProps {
  of: string
  /** Characters that are shown; the whole text is in a tooltip. @default 80 */
  most?: number
}

/** A text from elsewhere, such as the name of a user or a tool: it changes neither the direction nor the size of what is around it. */
export function Name({ of, most = 80 }: NameProps) {
  if (of.length <= most) return <bdi>{of}</bdi>
  return <bdi title={of}>{`${[...of].slice(0, most).join('')}…`}</bdi>
}
