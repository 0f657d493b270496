# %% [markdown] key="title"
# # Debugging the training pipeline
#
# You wrote a script that fine-tunes a model. You run it, and it fails in `model.fit()`. Or it runs to the end, and the model has learnt nothing.
#
# In this course you repair such a script. Every error in it is real: the libraries raise it themselves, on your machine, today.

# %% [markdown] key="ready"
# ## Is this machine ready?
#
# Run the next cell: click on it and press **Shift + Enter**.

# %% key="check-machine" tags=["varies"]
from helpers import check_machine

check_machine()

# %% [markdown] key="map"
# ## The lessons
#
# Each lesson is one notebook. Take them in order: lessons 01 to 04 repair one script, one fault after the other. Lessons 02 to 08 are not written yet.

# %% key="course-map"
from helpers import course_map

course_map()

# %% [markdown] key="how"
# ## How a lesson works
#
# 1. **Predict.** Say what will happen before you run a cell.
# 2. **Run.** See what does happen.
# 3. **Evidence.** Look at the data, the model or the numbers, not only at the message.
# 4. **Explain.** Say in one sentence why it happened.
# 5. **Repair.** Change as little as you can.
# 6. **Check.** A check looks at what you made and tells you what still does not hold.
# 7. **Debrief.** Compare your repair with a small one.
#
# Some cells are folded: they test the sentences of the lesson. You need not open them.
#
# After the lesson, open the notebook of the same name in the folder `exercises`. A worked copy stands in `solutions`. Look at it after you have tried.

# %% [markdown] key="data"
# ## What the course ships
#
# * **mini-MNLI**: English sentence pairs in the form of MNLI. For each pair: does the second sentence follow from the first (*entailment*), contradict it (*contradiction*), or neither (*neutral*)?
# * **mini-DistilBERT**: a small DistilBERT, pretrained on text of the same kind.
#
# Both are small, so that you can train on two cores in less than a minute, without a connection. To use the real MNLI and the real DistilBERT, set `COURSE_ASSETS=hub` before you start Jupyter. That takes a good connection, and a GPU for training.

# %% [markdown] key="next"
# ## Next
#
# Open [lesson 01: the broken script](01_the_broken_script.ipynb).

# %% [markdown] key="credit"
# ---
# The course follows the lesson "Debugging the training pipeline" of the Hugging Face course (chapter 8, TensorFlow). The plan of the lessons and the idea of the broken script come from there. The script, the text, the data, the checks and the exercises were made anew, because the script as published in 2021 meets other errors today.
