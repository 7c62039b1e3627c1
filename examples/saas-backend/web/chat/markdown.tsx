import type { ReactNode } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'

/**
 * Shows a model's text. HTML is shown as text, and images as links. Loading an image would send its address, and any data that a
 * model put into it, to another server.
 */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown" dir="auto">
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  )
}

const components: Components = {
  img: ({ src, alt }) => <Link href={typeof src === 'string' ? src : ''}>{alt || 'Image'} (image, not loaded)</Link>,
  a: ({ href, children }) => <Link href={href ?? ''}>{children}</Link>,
  // A wide table or a long line of code scrolls, so the keyboard must reach it.
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach content that scrolls
    <figure className="wide" tabIndex={0} aria-label="Table">
      <table>{children}</table>
    </figure>
  ),
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach content that scrolls
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
}

/** Shows the address on hover, because the text of a link may show another one. */
function Link({ href, children }: { href: string; children: ReactNode }) {
  if (!/^(https?:|mailto:)/i.test(href)) return <span>{children}</span>
  return (
    <a href={href} title={href} target="_blank" rel="noreferrer noopener nofollow">
      {children}
    </a>
  )
}
