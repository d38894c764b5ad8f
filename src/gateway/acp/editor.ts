import type {
  CreateElicitationResponse,
  ElicitationSchema,
  RequestPermissionOutcome,
  RequestPermissionRequest,
  SessionUpdate,
} from '@agentclientprotocol/sdk';

/**
 * The editor, as one session reaches it.
 *
 * Contract: updates arrive in the order of the calls. A question rejects when its signal aborts, and when the editor leaves or does not know
 * the method.
 */
export interface Editor {
  /** Its name for other operators: `acp:zed`. */
  readonly name: string;
  /** True if it shows forms. */
  readonly hasForms: boolean;
  update(update: SessionUpdate): Promise<void>;
  /** Asks the user to choose. */
  choose(request: Omit<RequestPermissionRequest, 'sessionId'>, signal: AbortSignal): Promise<RequestPermissionOutcome>;
  /** Asks the user to fill in a form. */
  complete(form: EditorForm, signal: AbortSignal): Promise<CreateElicitationResponse>;
}

/** A form for the user. */
export interface EditorForm {
  readonly message: string;
  readonly toolCallId: string;
  readonly requestedSchema: ElicitationSchema;
}
