"""The map of the course, as a table."""

from helpers.course import lessons
from helpers.messages import _


class CourseMap:
    def __repr__(self) -> str:
        rows = [
            f"{lesson.name[:2]}  {lesson.title:<34} {'★' * lesson.difficulty:<4} {_('{minutes} minutes').format(minutes=lesson.minutes)}"
            for lesson in lessons()
        ]
        return "\n".join(rows)


def course_map() -> CourseMap:
    """The lessons in order, with title, difficulty and minutes, from course.toml."""
    return CourseMap()
