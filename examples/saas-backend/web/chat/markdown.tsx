import type { ReactNode } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'

/**
 * What a model wrote. Its HTML is shown as the text that it is, and its images as a link: an image would be asked for by the page,
 * and so could carry off what stands in its address.
 */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown">
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  )
}

const components: Components = {
  img: ({ src, alt }) => <Link href={typeof src === 'string' ? src : ''}>{alt || 'Image'} (image, not loaded)</Link>,
  a: ({ href, children }) => <Link href={href ?? ''}>{children}</Link>,
  // A wide table scrolls by itself; for that it can be reached by key.
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key
    <section className="wide" tabIndex={0} aria-label="Table">
      <table>{children}</table>
    </section>
  ),
}

/** `react-markdown` has emptied the addresses of other schemes. */
function Link({ href, children }: { href: string; children: ReactNode }) {
  if (!/^(https?:|mailto:)/i.test(href)) return <span>{children}</span>
  return (
    <a href={href} target="_blank" rel="noreferrer noopener nofollow">
      {children}
    </a>
  )
}
