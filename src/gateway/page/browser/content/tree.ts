/** A piece of rendered text: plain data, which becomes elements and text nodes, never markup. */
export type Tree = string | TreeElement;

/** An element of rendered text. */
export interface TreeElement {
  readonly tag: TreeTag;
  /** Address of a link, already checked. */
  readonly href?: string;
  /** Class names for the style sheet. */
  readonly className?: string;
  /** Number of the first item of a list. */
  readonly start?: number;
  readonly children: readonly Tree[];
}

/** The only elements that text can become. */
export type TreeTag =
  | 'p'
  | 'h3'
  | 'h4'
  | 'h5'
  | 'h6'
  | 'ul'
  | 'ol'
  | 'li'
  | 'blockquote'
  | 'pre'
  | 'code'
  | 'em'
  | 'strong'
  | 'del'
  | 'a'
  | 'br'
  | 'hr'
  | 'table'
  | 'thead'
  | 'tbody'
  | 'tr'
  | 'th'
  | 'td'
  | 'span';
