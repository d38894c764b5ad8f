export { ModelError, type ModelErrorDetails, type ModelFailureType, shownRequestId } from '../../define/provider/model-error.js';
